/** Changes of a policy that many tokens have, with the times that a change is made of. */
import type { Figure } from './benchmark.ts';
import { limits } from './limits.ts';
import { mainThreadMs, mainThreadWaitMs, workersWaitMs } from './processes.ts';
import { percentile } from './statistics.ts';
import { ProcessorWaits } from './thread-time.ts';

/** A change, in milliseconds. */
interface Change {
  /** From sending the request until the whole answer has come. */
  readonly wholeMs: number;
  /** Processor time of the server's main thread. */
  readonly mainMs: number;
  /** From the end of the transaction until the main thread hears that the log has it. */
  readonly commitMs: number;
  /** Waits for a processor: of the server's main thread, of the thread of its log, and of this process. */
  readonly waitMs: number;
  readonly heldMs: number;
  readonly firstReadMs: number;
}

/** The changes of a run, one after the other. */
export type Changes = readonly Change[];

export interface ChangedServer {
  readonly pid: number;
  ask(question: 'watch' | 'longest' | 'commits'): Promise<number>;
}

export interface ChangeWork {
  /** Other work of the server before each change, since a change seldom follows another one. */
  readonly between: () => Promise<unknown>;
  readonly change: (number: number) => Promise<unknown>;
  readonly firstRead: () => Promise<unknown>;
}

const ownWaits = new ProcessorWaits();

export async function changesOf(server: ChangedServer, work: ChangeWork): Promise<Changes> {
  const changes: Change[] = [];
  for (let number = 0; number < limits.policyChanges; number++) {
    await work.between();
    changes.push(await oneChange(server, work, number));
  }
  return changes;
}

async function oneChange(server: ChangedServer, work: ChangeWork, number: number): Promise<Change> {
  const { pid } = server;
  const commitsMs = await server.ask('commits');
  await server.ask('watch');
  const waitedMs = waitsMs(pid);
  const usedMs = mainThreadMs(pid);
  const wholeMs = await msOf(() => work.change(number));
  const mainMs = mainThreadMs(pid) - usedMs;
  const waitMs = waitsMs(pid) - waitedMs;
  const heldMs = await server.ask('longest');
  const firstReadMs = await msOf(work.firstRead);
  const commitMs = (await server.ask('commits')) - commitsMs;
  return { wholeMs, mainMs, commitMs, waitMs, heldMs, firstReadMs };
}

const waitsMs = (pid: number): number => mainThreadWaitMs(pid) + workersWaitMs(pid) + ownWaits.ms;

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

export function changeFigures(
  runs: readonly Changes[],
  most: { readonly wholeMs: number; readonly heldMs: number },
): Figure[] {
  const middle = (key: keyof Change) => (changes: Changes) =>
    percentile(
      changes.map((one) => one[key]),
      50,
    );
  const greatest = (key: keyof Change) => (changes: Changes) =>
    Math.max(...changes.map((one) => one[key]));
  const of = (name: string, figure: (changes: Changes) => number, value?: number): Figure => ({
    name,
    unit: 'ms',
    ours: runs.map(figure),
    ...(value !== undefined && { target: { of: 'median', is: 'at most', value } as const }),
  });
  return [
    of('change of the policy that all have', middle('wholeMs'), most.wholeMs),
    of('change of the policy: processor time, main thread', middle('mainMs')),
    of('change of the policy: commit', middle('commitMs')),
    of('change of the policy: waits for a processor', middle('waitMs')),
    of('change of the policy: slowest of a run', greatest('wholeMs')),
    of('change of the policy: its waits for a processor', (changes) => slowestOf(changes).waitMs),
    of('change of the policy: loop held', greatest('heldMs'), most.heldMs),
    of('change of the policy: first read under it', middle('firstReadMs')),
  ];
}

const slowestOf = (changes: Changes): Change =>
  changes.reduce((slowest, one) => (one.wholeMs > slowest.wholeMs ? one : slowest));

export const changeNote =
  `A run makes ${limits.policyChanges} changes, each after a list with a filter; a figure is the median of the ` +
  'run, unless it is about the slowest change, or the longest time for which the loop was held. The parts of a ' +
  'change are the processor time of the server’s main thread; the commit, from the end of the transaction ' +
  'until the main thread hears that the disk has it; and the waits of the main thread, the log’s thread and ' +
  'the load for a processor that others have (`schedstat`), in the commit and outside of it. Threads that ' +
  'wait at the same time count twice. The work does not grow with the tokens: each finds its rules at its ' +
  'next request.';
