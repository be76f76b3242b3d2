/** The command `npm run sim`: reads its options, runs the lives, and prints a line for each. */
import { parseArgs } from 'node:util';
import { names } from './cluster-names.ts';
import { KeptHashes, keepHashes } from './kept-hashes.ts';
import type { Lives } from './lives.ts';
import { type LogName, logNames } from './logs/log-names.ts';
import { mistakeNamed, mistakes } from './mistakes/list.ts';
import type { Mistake } from './mistakes/mistake.ts';
import type { Outcome } from './simulation.ts';
import { Summary } from './summary.ts';

export const usage = `Usage: npm run sim -- [OPTION ...]

Runs simulated lives of the control plane, each a function of its seed, and checks every guarantee.

  --seed N        seed of the first life (1)
  --many N        number of lives, with consecutive seeds; a summary counts the faults (1)
  --nodes N       machines of each cluster (20)
  --clusters N    clusters, up to ${names.length}; several clusters peer (1)
  --servers N     servers of each cluster; several servers share a log (1)
  --log NAME      the log that several servers share: ${logNames.join(' or ')} (${logNames[0]})
  --hours H       simulated hours under load and faults (1)
  --restores      users save snapshots of the state and restore older ones; one cluster only
  --recoveries    etcd comes back older under the servers, and operators recover the log; with --log etcd only
  --deciders      the servers have deciders, which hang and die
  --calm          leave out the users who set priorities and recreate purged jobs at once
  --processes N   processes to run the lives in (1)
  --trace         print each fault with its time
  --job ID        print each change of this job as well
  --keep FILE     write the hash of each life to this file
  --against FILE  compare the hash of each life with the file that --keep wrote
  --mistake NAME  plant this mistake in the product, and stop when its checker finds it:
                  ${mistakes.map(({ name }) => name).join('\n                  ')}
  --help          print this text

Exit codes: 0 if every guarantee held and no hash differs, 1 if not, 2 for a wrong option.`;

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
  readonly help: boolean;
  readonly calm: boolean;
  readonly restores: boolean;
  readonly recoveries: boolean;
  readonly deciders: boolean;
  readonly log: LogName;
  readonly mistake: Mistake | undefined;
  readonly trace: boolean;
  readonly job: string | undefined;
  readonly keep: string | undefined;
  readonly against: KeptHashes | undefined;
}

/** The world of the command. */
export interface Surroundings {
  /** Plants the mistake, if there is one, before the product is loaded. */
  readonly begin: (processes: number, mistake: Mistake | undefined) => Lives;
  readonly say: (line: string) => void;
  readonly complain: (line: string) => void;
  /** Replaces the line of progress; `undefined` without a terminal. */
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
  if (wishes.help) {
    around.say(usage);
    return 0;
  }
  const startMs = around.nowMs();
  const summary = await liveAll(wishes, around);
  if (wishes.many > 1)
    for (const line of summary.lines(wishes, around.nowMs() - startMs)) around.say(line);
  return summary.failed.length + summary.differing.length > 0 ? 1 : 0;
}

/** Each free process takes the next seed. The outcomes are printed in the order of the seeds. */
async function liveAll(wishes: Wishes, around: Surroundings): Promise<Summary> {
  const { seed: first, many, processes, mistake, against, keep } = wishes;
  const summary = new Summary();
  const lives = around.begin(processes, mistake);
  const lived = new Map<number, Lived>();
  const told: Outcome[] = [];
  let next = first;
  let untold = first;
  let isFound = false;
  const tellFinished = () => {
    for (let one = lived.get(untold); one !== undefined && !isFound; one = lived.get(untold)) {
      lived.delete(untold++);
      const difference = against?.difference(one.outcome);
      tell(one, difference, around);
      summary.add(one.outcome, difference);
      told.push(one.outcome);
      isFound = one.outcome.violations.some(({ guarantee }) => guarantee === mistake?.guarantee);
    }
  };
  const work = async () => {
    while (next < first + many && !isFound) {
      const seed = next++;
      lived.set(seed, await live(seed, wishes, lives, around));
      tellFinished();
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

/** @throws Error with a line for each wrong option */
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
      log: { type: 'string', default: logNames[0] },
      help: { type: 'boolean', default: false },
      calm: { type: 'boolean', default: false },
      restores: { type: 'boolean', default: false },
      recoveries: { type: 'boolean', default: false },
      deciders: { type: 'boolean', default: false },
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
    faults.push(`--mistake: no mistake is called "${values.mistake}"`);
  }
  const log = logNames.find((name) => name === values.log) ?? logNames[0];
  if (log !== values.log) {
    faults.push(`--log must be ${logNames.join(' or ')}, got "${values.log}"`);
  } else if (log !== logNames[0] && numbers.servers === 1) {
    faults.push('--log is the log of several servers: add --servers');
  }
  const { help, calm, restores, recoveries, deciders, trace, job, keep } = values;
  if (recoveries && log !== 'etcd') faults.push('--recoveries are of etcd: add --log etcd');
  if (restores && numbers.clusters > 1) faults.push('--restores works in one cluster only');
  if (numbers.processes > 1 && (trace || job !== undefined)) {
    faults.push('--trace and --job work in a single process: leave out --processes');
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const shape = { ...numbers, calm, restores, recoveries, deciders, log };
  const against = values.against === undefined ? undefined : KeptHashes.read(values.against, shape);
  return { ...shape, help, mistake, trace, job, keep, against };
}

interface Lived {
  readonly outcome: Outcome;
  readonly realMs: number;
}

async function live(
  seed: number,
  { nodes, clusters, servers, log, hours, trace, job, processes, ...kind }: Wishes,
  { simulate }: Lives,
  { say, showProgress, nowMs }: Surroundings,
): Promise<Lived> {
  const { calm, restores, recoveries, deciders } = kind;
  const startMs = nowMs();
  const isShown = showProgress !== undefined && processes === 1;
  const outcome = await simulate({
    seed,
    nodes,
    clusters,
    servers,
    log,
    hours,
    calm,
    restores,
    recoveries,
    deciders,
    job,
    ...((trace || job !== undefined) && { trace: say }),
    ...(isShown && {
      progress: (minute: number) => showProgress(`seed ${seed}: minute ${minute} `),
    }),
  });
  if (isShown) showProgress('');
  return { outcome, realMs: Math.max(nowMs() - startMs, 1) };
}

function tell(
  { outcome, realMs }: Lived,
  difference: string | undefined,
  { say }: Surroundings,
): void {
  const { seed, hash, commits, violations, simulatedMs } = outcome;
  const count = violations.length;
  const verdict =
    count === 0 ? 'every guarantee held' : count === 1 ? '1 violation' : `${count} violations`;
  say(
    `seed ${seed}: ${(simulatedMs / 3.6e6).toFixed(2)} h in ${(realMs / 1000).toFixed(1)} s ` +
      `(${Math.round(simulatedMs / realMs)} times real time), ${commits} commits, ` +
      `hash ${hash.slice(0, 16)}, ${verdict}${difference === undefined ? '' : `; ${difference}`}`,
  );
  for (const { guarantee, sentence, atMs } of violations) {
    say(`  at ${(atMs / 1000).toFixed(3)} s: ${guarantee}: ${sentence}`);
  }
}
