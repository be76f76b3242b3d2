/**
 * The evaluations of `holds.ts` in a process of their own, with the options that `bin/roster` gives Node.
 * It is forked with the number of lives, and reports the number of the current life and the measurements.
 *
 * 1. Each life does the same work from the same state with the same ids, so that the n-th spans of all lives
 *    are the same. A span is a step of scheduling, or a transaction of a plan with its encoding, its append
 *    and its publication, before other work gets its turn.
 * 2. A span counts with the time of its fastest life, without the time in which the thread waited for a
 *    processor, because the collector slows other spans in each life.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Steps } from '../src/base/steps.ts';
import type { Job } from '../src/model/job/job.ts';
import { limits } from '../src/model/limits.ts';
import { makeEvaluation } from '../src/scheduler/cluster.test-helper.ts';
import { SchedulerMemory } from '../src/scheduler/memory/memory.ts';
import { scheduleSteps } from '../src/scheduler/schedule.ts';
import { schedulerDefaults } from '../src/scheduler/view.ts';
import { clusterView } from '../src/server/scheduling/cluster-view.ts';
import { applyPlan } from '../src/server/scheduling/plans/apply.ts';
import { splitPlan } from '../src/server/scheduling/plans/split.ts';
import { memoryState } from '../src/state/state.test-helper.ts';
import { allTables, jobs, jobVersions, nodes } from '../src/state/tables.ts';
import type { State } from '../src/state/types.ts';
import { evaluations } from './holds-load.ts';
import { mixedFleet } from './scheduler-load.ts';
import { ProcessorWaits } from './thread-time.ts';

/** The durations of an evaluation, in milliseconds. */
export interface Hold {
  /** The longest span, each with the time of its fastest life. */
  readonly workMs: number;
  /** The longest span of any life. */
  readonly longestMs: number;
  /** The longest span of any life, with the waits of the thread for a processor. */
  readonly clockMs: number;
}

export type HoldsSaid =
  | { readonly kind: 'life'; readonly number: number }
  | {
      readonly kind: 'done';
      readonly holds: readonly Hold[];
      /** The longest pause of the collector. */
      readonly pauseMs: number;
    };

interface Span {
  /** Time without the waits of the thread for a processor. */
  readonly workMs: number;
  readonly clockMs: number;
}

/** In the order of time. */
type Spans = Span[];

const waits = new ProcessorWaits();

/** Begins a span; the returned function ends it. */
function begin(): () => Span {
  const waitedMs = waits.ms;
  const startMs = performance.now();
  return () => {
    const clockMs = performance.now() - startMs;
    return { clockMs, workMs: clockMs - (waits.ms - waitedMs) };
  };
}

class Life {
  readonly #world = new SimulatedWorld(1);
  readonly #state: State;
  readonly #memory = new SchedulerMemory();
  readonly #versions = new Map<string, number>();
  #spans: Spans = [];

  private constructor(state: State) {
    this.#state = state;
    state.onRan((changes, index) => this.#memory.noteChanges(changes, index));
  }

  static async begin(): Promise<Life> {
    // Rows are not frozen, as in an agent.
    const world = new SimulatedWorld(1);
    const state = await memoryState(allTables, world, undefined, { freeze: false });
    for (const node of mixedFleet()) {
      await state.write((transaction) => transaction.table(nodes).put(node));
    }
    return new Life(state);
  }

  async register(job: Job): Promise<void> {
    const Version = (this.#versions.get(job.ID) ?? -1) + 1;
    this.#versions.set(job.ID, Version);
    await this.#state.write((transaction) => {
      transaction.table(jobVersions).put(transaction.table(jobs).put({ ...job, Version }));
    });
  }

  /** Evaluates the job like the worker (`src/server/scheduling/evaluations/worker.ts`). */
  async evaluate({ ID: JobID, Type }: Job): Promise<Spans> {
    this.#spans = [];
    const { ids } = this.#world;
    const view = clusterView(this.#state.head(), schedulerDefaults);
    const session = this.#memory.begin(view);
    const evaluation = makeEvaluation({ JobID, Type });
    const { plan } = this.#drain(scheduleSteps(view, evaluation, { nowMs: 0, ids, session }));
    session.end();
    const knownOccupancyOf = (nodeId: string, index: number) =>
      this.#memory.occupancyOf(nodeId, index - 1);
    for (const part of this.#drain(splitPlan(plan, limits.scheduler.planRowsMax))) {
      const end = begin();
      await this.#state.write((transaction) => {
        const refusals = applyPlan(transaction, this.#world, part, knownOccupancyOf);
        if (refusals.length > 0) throw new Error(`a plan was refused: ${refusals[0]!.reason}`);
      });
      this.#spans.push(end());
    }
    return this.#spans;
  }

  #drain<T>(steps: Steps<T>): T {
    for (;;) {
      const end = begin();
      const { done, value } = steps.next();
      this.#spans.push(end());
      if (done) return value;
    }
  }
}

/** The spans of each evaluation. */
async function live(): Promise<readonly Spans[]> {
  const life = await Life.begin();
  const all: Spans[] = [];
  let last: Job | undefined;
  for (const [, job] of evaluations) {
    if (job !== undefined) await life.register(job);
    last = job ?? last;
    all.push(await life.evaluate(last!));
  }
  return all;
}

/** @throws Error when the lives of an evaluation do not have the same spans. */
function compare(lives: readonly Spans[]): Hold {
  const [first = [], ...others] = lives;
  if (others.some(({ length }) => length !== first.length)) {
    throw new Error('the same evaluation took another number of steps');
  }
  const all = lives.flat();
  return {
    workMs: greatest(first.map((_, at) => Math.min(...lives.map((spans) => spans[at]!.workMs)))),
    longestMs: greatest(all.map(({ workMs }) => workMs)),
    clockMs: greatest(all.map(({ clockMs }) => clockMs)),
  };
}

const greatest = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, value), 0);

const say = (said: HoldsSaid): void => void process.send!(said);

let pauseMs = 0;
const observer = new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) pauseMs = Math.max(pauseMs, duration);
});
observer.observe({ entryTypes: ['gc'] });

const lives: (readonly Spans[])[] = [];
for (let number = 1; number <= Number(process.argv[2]); number++) {
  say({ kind: 'life', number });
  lives.push(await live());
  // The entries of the collector arrive a turn later.
  await new Promise((resolve) => setImmediate(resolve));
}
const holds = evaluations.map((_, at) => compare(lives.map((life) => life[at]!)));
say({ kind: 'done', holds, pauseMs });
