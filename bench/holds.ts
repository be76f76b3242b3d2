/** How long scheduling keeps everybody else waiting: every step, and every transaction of a plan. */
import { PerformanceObserver } from 'node:perf_hooks';
import { realWorld } from '../src/base/ports-real.ts';
import { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Steps } from '../src/base/steps.ts';
import type { Job, JobInput } from '../src/model/job/job.ts';
import { limits } from '../src/model/limits.ts';
import {
  makeEvaluation,
  makeGroup,
  makeJob,
  makeTask,
} from '../src/scheduler/cluster.test-helper.ts';
import { SchedulerMemory } from '../src/scheduler/memory.ts';
import { scheduleSteps } from '../src/scheduler/schedule.ts';
import { schedulerDefaults } from '../src/scheduler/view.ts';
import { clusterView } from '../src/server/evaluations/view.ts';
import { applyPlan } from '../src/server/plans/apply.ts';
import { splitPlan } from '../src/server/plans/split.ts';

import { allTables, jobs, jobVersions, nodes } from '../src/state/tables.ts';
import { memoryState } from '../src/state/testing.ts';
import type { State } from '../src/state/types.ts';
import type { Benchmark } from './benchmark.ts';
import { fleetSize, mixedFleet } from './scheduler-load.ts';

const many = 10_000;
const most = 50_000;

const groupOf = (Count: number, fields: Parameters<typeof makeGroup>[0] = {}, version = 0) => {
  const Env = { VERSION: String(version) };
  const Tasks = [makeTask({ Resources: { CPU: 10, MemoryMB: 10 }, Env })];
  return makeGroup({ Count, Tasks, ...fields });
};
const twoPorts = { Networks: [{ DynamicPorts: [{ Label: 'http' }, { Label: 'admin' }] }] };
const overRacks = [{ Attribute: '${meta.rack}', Weight: 50 }];
const big = (count: number, version: number, fields: JobInput = {}): Job =>
  makeJob({ ID: 'big', ...fields, TaskGroups: [groupOf(count, {}, version)] });

/** In turn, on one cluster; `undefined`: nothing changed since the one before. */
const evaluations: readonly (readonly [title: string, job: Job | undefined])[] = [
  [`${many} with two ports each`, makeJob({ ID: 'ports', TaskGroups: [groupOf(many, twoPorts)] })],
  ['the same again', undefined],
  [
    `${many} over 50 racks`,
    makeJob({ ID: 'spread', Spreads: overRacks, TaskGroups: [groupOf(many)] }),
  ],
  ['one on every node', makeJob({ ID: 'all', Type: 'system', TaskGroups: [groupOf(1)] })],
  ['the same again', undefined],
  [`${most} are placed`, big(most, 0)],
  ['the same again', undefined],
  ['a new version of them', big(most, 1)],
  ['fewer of them', big(most / 2, 1)],
  ['they are stopped', big(most / 2, 1, { Stop: true })],
];

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

const lengthOf = ({ startMs, endMs }: Span): number => endMs - startMs;
const overlapMs = (left: Span, right: Span): number =>
  Math.max(0, Math.min(left.endMs, right.endMs) - Math.max(left.startMs, right.startMs));

interface Hold {
  /** Of the longest step or transaction, less the collector's pauses in it. */
  readonly longestMs: number;
  /** Of the collector's longest pause meanwhile. */
  readonly pauseMs: number;
}

/** Times steps by the clock, and tells apart what the garbage collector takes of them. */
class Stopwatch {
  readonly #spans: Span[] = [];
  readonly #pauses: Span[] = [];
  readonly #observer = new PerformanceObserver((list) => this.#note(list.getEntries()));

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  time<T>(work: () => T): T {
    const startMs = performance.now();
    const value = work();
    const endMs = performance.now();
    if (endMs - startMs > limits.scheduler.sliceMs) this.#spans.push({ startMs, endMs });
    return value;
  }

  drain<T>(steps: Steps<T>): T {
    for (;;) {
      const { done, value } = this.time(() => steps.next());
      if (done) return value;
    }
  }

  async stop(): Promise<Hold> {
    // The collector's entries come a turn later.
    await new Promise((resolve) => setTimeout(resolve, 10));
    this.#note(this.#observer.takeRecords());
    this.#observer.disconnect();
    const own = this.#spans.map((span) =>
      this.#pauses.reduce((ms, pause) => ms - overlapMs(span, pause), lengthOf(span)),
    );
    return {
      longestMs: Math.max(0, ...own),
      pauseMs: Math.max(0, ...this.#pauses.map(lengthOf)),
    };
  }

  #note(entries: readonly { readonly startTime: number; readonly duration: number }[]): void {
    for (const { startTime, duration } of entries) {
      this.#pauses.push({ startMs: startTime, endMs: startTime + duration });
    }
  }
}

class Bench {
  readonly #state: State;
  readonly #memory = new SchedulerMemory();
  readonly #versions = new Map<string, number>();

  constructor(state: State) {
    this.#state = state;
    state.onRan((changes, index) => this.#memory.note(changes, index));
  }

  async register(job: Job): Promise<void> {
    const Version = (this.#versions.get(job.ID) ?? -1) + 1;
    this.#versions.set(job.ID, Version);
    await this.#state.write((transaction) => {
      transaction.table(jobVersions).put(transaction.table(jobs).put({ ...job, Version }));
    });
  }

  /** As the worker does it; tells how long it held the thread at most. */
  async evaluate({ ID: JobID, Type }: Job): Promise<Hold> {
    const watch = new Stopwatch();
    const view = clusterView(this.#state.head(), schedulerDefaults);
    const session = this.#memory.begin(view);
    const evaluation = makeEvaluation({ JobID, Type });
    const options = { nowMs: 0, ids: realWorld.ids, session };
    const { plan } = watch.drain(scheduleSteps(view, evaluation, options));
    session.end();
    const loadOf = (nodeId: string, index: number) => this.#memory.loadOf(nodeId, index - 1);
    for (const part of watch.drain(splitPlan(plan, limits.scheduler.planRowsMax))) {
      let written: Promise<unknown> | undefined;
      watch.time(() => {
        written = this.#state.write((transaction) => {
          const rejections = applyPlan(transaction, realWorld, part, loadOf);
          if (rejections.length > 0)
            throw new Error(`a plan was rejected: ${rejections[0]!.reason}`);
        });
      });
      await written;
    }
    return watch.stop();
  }
}

/** The longest hold of each evaluation. */
async function once(): Promise<readonly Hold[]> {
  const state = await memoryState(allTables, new SimulatedWorld(1));
  for (const node of mixedFleet()) {
    await state.write((transaction) => transaction.table(nodes).put(node));
  }
  const bench = new Bench(state);
  const found: Hold[] = [];
  let last: Job | undefined;
  for (const [, job] of evaluations) {
    if (job !== undefined) await bench.register(job);
    last = job ?? last;
    found.push(await bench.evaluate(last!));
  }
  return found;
}

export const holds: Benchmark = {
  name: 'holds',
  title: `Evaluations on ${fleetSize.toLocaleString('en')} nodes: how long others wait at a time`,
  baseline: 'there is none',
  takesGiven: false,
  async run({ runs, progress }) {
    progress('warm-up');
    await once();
    const all: (readonly Hold[])[] = [];
    for (let run = 1; run <= runs; run++) {
      progress(`run ${run} of ${runs}`);
      all.push(await once());
    }
    return {
      figures: [
        ...evaluations.map(([title], at) => ({
          name: title,
          unit: 'ms',
          ours: all.map((found) => found[at]!.longestMs),
          target: { of: 'median', is: 'at most', value: 10 } as const,
        })),
        {
          name: 'longest pause of the garbage collector',
          unit: 'ms',
          ours: all.map((found) => Math.max(...found.map(({ pauseMs }) => pauseMs))),
        },
      ],
      notes: [
        'Each run tells its longest step, or transaction of a plan, by the clock: what else the machine ' +
          'does counts. Between two of them the server answers requests. Pauses of the garbage collector are ' +
          'told apart: they come wherever objects are made, and grow with what is alive, 110,000 allocations here. ' +
          'A plan that is all or nothing is one transaction, however large.',
      ],
    };
  },
};
