/** `npm run sim`: the control plane's life from a seed, judged at every step. */
import { parseArgs } from 'node:util';
import { type Outcome, simulate } from './simulation.ts';

const usage = `Usage: npm run sim -- [--seed N] [--nodes N] [--hours H] [--many N] [--trace] [--job ID]

  --seed N    which life (1)
  --nodes N   how many machines (20)
  --hours H   how long it lasts under load and faults, in simulated hours (1)
  --many N    N lives, from the seed on
  --trace     tell what goes wrong when
  --job ID    and what becomes of this job`;

interface Wishes {
  readonly seed: number;
  readonly nodes: number;
  readonly hours: number;
  readonly many: number;
  readonly trace: boolean;
  readonly job: string | undefined;
}

function read(words: readonly string[]): Wishes {
  const { values } = parseArgs({
    args: [...words],
    options: {
      ...{ seed: { type: 'string', default: '1' }, nodes: { type: 'string', default: '20' } },
      ...{ hours: { type: 'string', default: '1' }, many: { type: 'string', default: '1' } },
      ...{ trace: { type: 'boolean', default: false }, job: { type: 'string' } },
    },
  });
  const number = (name: 'seed' | 'nodes' | 'hours' | 'many', least: number): number => {
    const value = Number(values[name]);
    const isGood = value >= least && (name === 'hours' || Number.isSafeInteger(value));
    if (!isGood) throw new Error(`--${name} must be a number of at least ${least}`);
    return value;
  };
  return {
    ...{ seed: number('seed', 0), nodes: number('nodes', 1), hours: number('hours', 0) },
    ...{ many: number('many', 1), trace: values.trace, job: values.job },
  };
}

const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  let wishes: Wishes;
  try {
    wishes = read(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}\n`);
    return 2;
  }
  const failed: number[] = [];
  for (let seed = wishes.seed; seed < wishes.seed + wishes.many; seed++) {
    const outcome = await live(seed, wishes);
    if (outcome.violations.length > 0) failed.push(seed);
  }
  if (wishes.many > 1) {
    const which = failed.length > 0 ? `: ${failed.join(', ')}` : '';
    say(`${wishes.many} seeds, ${failed.length} with violations${which}`);
  }
  return failed.length > 0 ? 1 : 0;
}

async function live(seed: number, { nodes, hours, trace, job }: Wishes): Promise<Outcome> {
  const startMs = performance.now();
  const isSeen = process.stderr.isTTY;
  const outcome = await simulate({
    ...{ seed, nodes, hours, job },
    ...((trace || job !== undefined) && { trace: say }),
    ...(isSeen && {
      progress: (minute: number) => process.stderr.write(`\rseed ${seed}: minute ${minute} `),
    }),
  });
  if (isSeen) process.stderr.write('\r\u001b[K');
  const realMs = performance.now() - startMs;
  const { hash, commits, violations, simulatedMs } = outcome;
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
  return outcome;
}

process.exitCode = await main();
