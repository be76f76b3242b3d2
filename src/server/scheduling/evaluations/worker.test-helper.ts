import type { Timer } from '../../../base/ports.ts';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { rootKeyBox } from '../../../base/secret-box.ts';
import type { JobInput } from '../../../model/job/job.ts';
import { limits } from '../../../model/limits.ts';
import { makeJob, makeNode } from '../../../scheduler/cluster.test-helper.ts';
import { schedulerDefaults } from '../../../scheduler/view.ts';
import { MemoryDisk } from '../../../state/engine/memory.ts';
import { memoryState } from '../../../state/state.test-helper.ts';
import {
  allocations,
  allTables,
  evaluations,
  jobs,
  jobVersions,
  nodes,
} from '../../../state/tables.ts';
import type { Change, Transaction } from '../../../state/types.ts';
import { type Log, type ServerContext, silentLog } from '../../context.ts';
import { createEvaluation } from '../create-evaluation.ts';
import { FedDecider } from '../decider/fed-decider.ts';
import { linkedDeciders } from '../decider/linked-decider.test-helper.ts';
import { Decisions } from './decisions.ts';
import { EvaluationDispatcher } from './dispatcher.ts';
import { EvaluationWorker } from './worker.ts';

/** Long enough for everything to be decided. */
export const longMs = 3_600_000;
interface SetUp {
  readonly disk?: MemoryDisk;
  readonly seed?: number;
  /** Whether a decider decides. */
  readonly isApart?: boolean;
  /** The time that passes whenever the clock is read, such as between two steps; a second: each step takes a whole slice. */
  readonly stepMs?: number;
  /** Transactions that nobody waits for wait for others. */
  readonly lingers?: boolean;
}

/** The scheduling part of a server. */
export async function setUp(given: SetUp) {
  const { simulated, warnings, context, isApart, collected } = await contextOf(given);
  const { state, world } = context;
  const configuration = () => schedulerDefaults;
  const dispatcher = new EvaluationDispatcher(context, configuration);
  const deciders = linkedDeciders(world);
  const decider = isApart ? new FedDecider({ ...context, start: deciders.start }) : undefined;
  const worker = new EvaluationWorker(context, {
    dispatcher,
    configuration,
    decisions: new Decisions(),
    startDecider: decider && (() => decider),
  });
  // A decider follows before there is something to decide.
  if (isApart) await simulated.advance(longMs);
  /** The rows of each transaction, in order. */
  const ran: (readonly Change[])[] = [];
  state.onRan((changes) => ran.push(changes));
  const start = () => {
    dispatcher.start();
    worker.start();
  };
  const stop = () => {
    worker.stop();
    dispatcher.stop();
  };
  const own = { simulated, worker, deciders, state, ran, warnings, start, stop };
  return { ...own, ...collected, ...usersOf(context) };
}

async function contextOf({
  disk = new MemoryDisk(),
  seed = 1,
  isApart = false,
  stepMs = 1000,
  lingers = false,
}: SetUp) {
  const simulated = new SimulatedWorld(seed);
  let elapsedMs = 0;
  const clock = { ...simulated.clock, monotonicMs: () => (elapsedMs += stepMs) };
  const collector = { marks: false, waiting: [] as (() => void)[] };
  let slices = 0;
  const unhurried = (run: () => void): Timer => {
    slices++;
    if (!collector.marks) return simulated.timers.soon(run);
    collector.waiting.push(run);
    return { clear: () => {} };
  };
  const timers = { ...simulated.timers, unhurried };
  const { ids, random, secrets } = simulated;
  const { lingerMs } = limits.state;
  const waits = lingers ? { limits: { lingerMs } } : {};
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_, sentence) => warnings.push(sentence) };
  const context: ServerContext = {
    state: await memoryState(allTables, simulated, disk, waits),
    log,
    ...(lingers && { stopwatch: clock }),
    region: 'global',
    openEvaluations: () => 0,
    world: { ...simulated, clock, timers, ids, random, secrets },
    box: rootKeyBox(new Uint8Array(32), secrets),
  };
  /** `slices`: of work so far. */
  const collected = { disk, collector, slices: () => slices };
  return { simulated, warnings, context, isApart, collected };
}

/** Users of the server, and what they see. */
function usersOf({ state, world }: ServerContext) {
  const write = (run: (transaction: Transaction) => void) => state.write(run);
  const register = (fields: JobInput) =>
    write((transaction) => {
      const made = makeJob(fields);
      const job = transaction.table(jobs).put({ ...made, JobModifyIndex: transaction.index });
      transaction.table(jobVersions).put(job);
      createEvaluation(transaction, world, { job, triggeredBy: 'job-register' });
    });
  const putNodes = (...ids: readonly string[]) =>
    write((transaction) => {
      for (const id of ids) {
        const node = makeNode(id, { SecretHash: id, cpu: 1e6, memory: 1e6, disk: 1e6 });
        transaction.table(nodes).put(node);
      }
    });
  const all = {
    allocations: () => [...state.read().table(allocations).scan()],
    evaluations: () => [...state.read().table(evaluations).scan()],
  };
  return { write, register, putNodes, all };
}
