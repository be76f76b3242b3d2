/** What `npm run sim` does with its words: lives from seeds, told line by line. */
import { parseArgs } from 'node:util';
import { names } from './cluster-names.ts';
import { KeptHashes, keepHashes } from './kept-hashes.ts';
import type { Lives } from './lives.ts';
import { mistakeNamed, mistakes } from './mistakes/list.ts';
import type { Mistake } from './mistakes/mistake.ts';
import type { Outcome } from './simulation.ts';
import { Summary } from './summary.ts';

export const usage = `Usage: npm run sim -- [--seed N] [--nodes N] [--hours H] [--many N] [--processes N] [--clusters N] [--servers N] [--calm] [--mistake NAME] [--trace] [--job ID] [--keep FILE] [--against FILE]

  --seed N      which life (1)
  --nodes N     how many machines a cluster has (20)
  --clusters N  how many clusters; those that are not alone peer (1)
  --servers N   how many servers a cluster has; several share one log (1)
  --hours H     how long it lasts under load and faults, in simulated hours (1)
  --many N      N lives, from the seed on, and how often which fault struck in them
  --processes N  in so many processes at a time (1)
  --calm        nobody gives priorities, or purges a job and creates it anew at once
  --mistake NAME  with this mistake planted in the product, until its checker finds it:
                ${mistakes.map(({ name }) => name).join('\n                ')}
  --trace       tell what goes wrong when
  --job ID      and what becomes of this job
  --keep FILE   write the hash of each life to this file
  --against FILE  hold the hash of each life against those that this file keeps

It ends with 0 when every guarantee held, with 1 when one did not, and with 2 when it was asked wrongly.`;

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly isWhole: boolean;
}

const bounds = {
  seed: { least: 0, most: Number.MAX_SAFE_INTEGER, isWhole: true },
  nodes: { least: 1, most: 10_000, isWhole: true },
  clusters: { least: 1, most: names.length, isWhole: true },
  servers: { least: 1, most: 5, isWhole: true },
  hours: { least: 0, most: 10_000, isWhole: false },
  many: { least: 1, most: 1_000_000, isWhole: true },
  processes: { least: 1, most: 64, isWhole: true },
} satisfies Record<string, Bounds>;

type NumberName = keyof typeof bounds;

interface Wishes extends Readonly<Record<NumberName, number>> {
  readonly calm: boolean;
  readonly mistake: Mistake | undefined;
  readonly trace: boolean;
  readonly job: string | undefined;
  readonly keep: string | undefined;
  readonly against: KeptHashes | undefined;
}

/** What the command says and asks. */
export interface Surroundings {
  /** With a mistake in the product, or without. */
  readonly begin: (processes: number, mistake: Mistake | undefined) => Lives;
  readonly say: (line: string) => void;
  readonly complain: (line: string) => void;
  /** Shown while a life goes on, and taken away again; `undefined`: nobody looks. */
  readonly showProgress: ((text: string) => void) | undefined;
  readonly nowMs: () => number;
}

/** Resolves with the exit code. */
export async function runCommand(words: readonly string[], around: Surroundings): Promise<number> {
  let wishes: Wishes;
  try {
    wishes = read(words);
  } catch (error) {
    around.complain(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  const startMs = around.nowMs();
  const summary = await liveAll(wishes, around);
  if (wishes.many > 1)
    for (const line of summary.lines(wishes, around.nowMs() - startMs)) around.say(line);
  return summary.failed.length > 0 ? 1 : 0;
}

/** Each process takes the next seed when it is done with one; what came of them is told in their order. */
async function liveAll(wishes: Wishes, around: Surroundings): Promise<Summary> {
  const { seed: first, many, processes, mistake, against, keep } = wishes;
  const summary = new Summary();
  const lives = around.begin(processes, mistake);
  const lived = new Map<number, Lived>();
  const told: Outcome[] = [];
  let next = first;
  let untold = first;
  let isFound = false;
  const tellThose = () => {
    for (let one = lived.get(untold); one !== undefined && !isFound; one = lived.get(untold)) {
      lived.delete(untold++);
      tell(one, around);
      summary.add(one.outcome);
      told.push(one.outcome);
      isFound = one.outcome.violations.some(({ guarantee }) => guarantee === mistake?.guarantee);
    }
  };
  const work = async () => {
    while (next < first + many && !isFound) {
      const seed = next++;
      const life = await live(seed, wishes, lives, around);
      const outcome = against?.held(life.outcome) ?? life.outcome;
      lived.set(seed, { ...life, outcome });
      tellThose();
    }
  };
  try {
    await Promise.all(Array.from({ length: processes }, work));
  } finally {
    lives.end();
  }
  if (keep !== undefined) keepHashes(keep, wishes, told);
  return summary;
}

/** @throws Error that tells everything that is wrong */
function read(words: readonly string[]): Wishes {
  const { values } = parseArgs({
    args: [...words],
    options: {
      seed: { type: 'string', default: '1' },
      nodes: { type: 'string', default: '20' },
      clusters: { type: 'string', default: '1' },
      servers: { type: 'string', default: '1' },
      hours: { type: 'string', default: '1' },
      many: { type: 'string', default: '1' },
      processes: { type: 'string', default: '1' },
      calm: { type: 'boolean', default: false },
      mistake: { type: 'string' },
      trace: { type: 'boolean', default: false },
      job: { type: 'string' },
      keep: { type: 'string' },
      against: { type: 'string' },
    },
  });
  const faults: string[] = [];
  const number = (name: NumberName): number => {
    const { least, most, isWhole } = bounds[name];
    const text = values[name];
    const value = text.trim() === '' ? Number.NaN : Number(text);
    const isGood = value >= least && value <= most && (!isWhole || Number.isSafeInteger(value));
    if (!isGood) {
      const kind = isWhole ? 'a whole number' : 'a number';
      faults.push(`--${name} must be ${kind} from ${least} to ${most}, got "${text}"`);
    }
    return value;
  };
  const numbers = {
    seed: number('seed'),
    nodes: number('nodes'),
    clusters: number('clusters'),
    servers: number('servers'),
    hours: number('hours'),
    many: number('many'),
    processes: number('processes'),
  };
  const mistake = mistakeNamed(values.mistake ?? '');
  if (values.mistake !== undefined && mistake === undefined) {
    faults.push(`--mistake: there is none called "${values.mistake}"`);
  }
  const { calm, trace, job, keep } = values;
  if (numbers.processes > 1 && (trace || job !== undefined)) {
    faults.push('--trace and --job tell of lives in one process: leave --processes out');
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const shape = { ...numbers, calm };
  const against = values.against === undefined ? undefined : KeptHashes.read(values.against, shape);
  return { ...shape, mistake, trace, job, keep, against };
}

interface Lived {
  readonly outcome: Outcome;
  readonly realMs: number;
}

async function live(
  seed: number,
  { nodes, clusters, servers, hours, calm, trace, job, processes }: Wishes,
  { simulate }: Lives,
  { say, showProgress, nowMs }: Surroundings,
): Promise<Lived> {
  const startMs = nowMs();
  const isShown = showProgress !== undefined && processes === 1;
  const outcome = await simulate({
    seed,
    nodes,
    clusters,
    servers,
    hours,
    calm,
    job,
    ...((trace || job !== undefined) && { trace: say }),
    ...(isShown && {
      progress: (minute: number) => showProgress(`seed ${seed}: minute ${minute} `),
    }),
  });
  if (isShown) showProgress('');
  return { outcome, realMs: Math.max(nowMs() - startMs, 1) };
}

function tell({ outcome, realMs }: Lived, { say }: Surroundings): void {
  const { seed, hash, commits, violations, simulatedMs } = outcome;
  const verdict =
    violations.length === 0 ? 'every guarantee held' : `${violations.length} violations`;
  say(
    `seed ${seed}: ${(simulatedMs / 3.6e6).toFixed(2)} h in ${(realMs / 1000).toFixed(1)} s ` +
      `(${Math.round(simulatedMs / realMs)} times real time), ${commits} commits, ` +
      `hash ${hash.slice(0, 16)}, ${verdict}`,
  );
  for (const { guarantee, sentence, atMs } of violations) {
    say(`  at ${(atMs / 1000).toFixed(3)} s: ${guarantee}: ${sentence}`);
  }
}
