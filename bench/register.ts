import { withAgent } from './agent.ts';
import { withBaseline } from './baseline.ts';
import type { Benchmark, Figure, Goal, Results, Setting } from './benchmark.ts';
import { drained, joinPaperFleet, paperDatacenter, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { requestBytes } from './load.ts';
import type { Target } from './target.ts';
import { costNote, type Load, load, loadFigures, numbered } from './wrk.ts';

/** Kinds of jobs, by the result of their evaluation. */
interface Variant {
  readonly name: string;
  readonly job: (id: string) => unknown;
  /** Whether the report has more than the load of a warm server. */
  readonly isDetailed: boolean;
}

const withoutTasks = (id: string) => smallJob(id, { count: 0 });

const variants: readonly Variant[] = [
  {
    name: 'placed',
    job: (id) => smallJob(id, { count: 1, datacenter: paperDatacenter }),
    isDetailed: true,
  },
  {
    name: 'no node fits',
    job: (id) => smallJob(id, { count: 1, nodeClass: 'none' }),
    isDetailed: false,
  },
  { name: 'count 0', job: withoutTasks, isDetailed: false },
];

export const register: Benchmark = {
  name: 'register',
  title: `Durable registration of distinct jobs, ${limits.connections} connections and 1 connection`,
  baseline: 'bare `node:http` that parses the same body and answers as much, but keeps nothing',
  takesGiven: true,
  usesWrk: true,
  isDurable: true,
  async run(setting) {
    const runs = new Map<Variant, Run[]>(variants.map((variant) => [variant, []]));
    for (let run = 1; run <= setting.runs; run++) {
      for (const [variant, found] of runs) {
        setting.progress(`${variant.name}, run ${run} of ${setting.runs}`);
        found.push(await oneRun(setting, variant));
      }
    }
    return resultsOf(runs);
  },
};

interface Run {
  /** The first seconds of a new server at 1 connection, and of another new server at many; a given server has none. */
  readonly alone?: Load;
  readonly cold?: Load;
  /** At 1 connection, right after the load at many. */
  readonly afterBurst: Load;
  readonly warm: Load;
  readonly drainMs: number;
  readonly baseline: Load;
}

interface Registrations {
  /** The default has no instances. */
  readonly job?: (id: string) => unknown;
  readonly connections?: number;
}

/** The load of distinct registrations. `session` keeps apart the jobs of the loads of a server. */
export function registrations(
  target: Target,
  session: string,
  { job = withoutTasks, connections = limits.connections }: Registrations = {},
): Promise<Load> {
  const body = JSON.stringify(job(`bench-${session}-${numbered}`));
  return load(target, requestBytes(target, 'POST', '/v1/jobs', body), { connections });
}

async function oneRun({ given }: Setting, { job, isDetailed }: Variant): Promise<Run> {
  if (given !== undefined) {
    const { cold, ...rest } = await oneServer(given, job);
    return rest;
  }
  const run = await withAgent(({ target }) => oneServer(target, job));
  if (!isDetailed) return run;
  const alone = await withAgent(({ target }) =>
    withFleet(target, () => registrations(target, 'alone', { job, connections: 1 })),
  );
  return { ...run, alone };
}

function oneServer(target: Target, job: Variant['job']): Promise<Run> {
  // A given server may have the jobs of an earlier run.
  const session = Date.now().toString(36);
  return withFleet(target, async () => {
    const cold = await registrations(target, `${session}-burst`, { job });
    const afterBurst = await registrations(target, `${session}-after`, { job, connections: 1 });
    await drained(target);
    const warm = await registrations(target, `${session}-warm`, { job });
    const startMs = performance.now();
    await drained(target);
    const drainMs = performance.now() - startMs;
    const baseline = await withBaseline(likeRegistration, async ({ target: bare }) => {
      await registrations(bare, 'burst', { job });
      return registrations(bare, 'warm', { job });
    });
    return { cold, afterBurst, warm, drainMs, baseline };
  });
}

async function withFleet<T>(target: Target, use: () => Promise<T>): Promise<T> {
  const fleet = await joinPaperFleet(target, limits.paperFleet);
  try {
    return await use();
  } finally {
    fleet.leave();
  }
}

/** An answer as long as that of a registration. */
const likeRegistration = {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    EvalID: '00000000-0000-0000-0000-000000000000',
    EvalCreateIndex: 10_000,
    JobModifyIndex: 10_000,
    Warnings: '',
    Index: 10_000,
    LastContact: 0,
    KnownLeader: true,
  }),
};

function resultsOf(runs: ReadonlyMap<Variant, readonly Run[]>): Results {
  return {
    figures: [...runs].flatMap(([variant, found]) => figuresOf(variant, found)),
    notes: [
      'Every job has one group of one task that asks for 1 MHz and 10 MB. “Placed”: on ' +
        `one of ${limits.paperFleet.nodes} nodes that exist on paper alone, so that no tasks share ` +
        'the machine. “No node fits”: the evaluation looks at every node and ends blocked.',
      `Each load takes ${limits.loadSeconds} s. “Cold” is the first of a new agent; “1 connection” the ` +
        'first of another new agent, and “after a burst” follows the cold load at once. Then the ' +
        'evaluations are drained before “warm”. “Drained” counts from the end of the warm load until no ' +
        'evaluation is pending.',
      costNote([...runs.values()].flat().map(({ warm }) => warm)),
    ],
  };
}

const atMost = (value: number): Goal => ({ of: 'median', is: 'at most', value });

function figuresOf({ name, isDetailed }: Variant, runs: readonly Run[]): Figure[] {
  const lastOf100 = { p99Ms: atMost(60) };
  const warm = { ours: runs.map((run) => run.warm), baseline: runs.map((run) => run.baseline) };
  const figures = [
    ...loadFigures(`${name}, warm`, warm, {
      ...lastOf100,
      perSecond: { of: 'median', is: 'at least', value: 2_000 },
    }),
    { name: `${name}, then drained in`, unit: 'ms', ours: runs.map((run) => run.drainMs) },
  ];
  if (!isDetailed) return figures;
  const cold = runs.flatMap((run) => run.cold ?? []);
  const alone = runs.flatMap((run) => run.alone ?? []);
  const afterBurst = runs.map((run) => run.afterBurst);
  return [
    ...loadFigures(`${name}, cold`, { ours: cold }, lastOf100),
    ...figures,
    ...loadFigures(`${name}, 1 connection`, { ours: alone }),
    ...loadFigures(`${name}, 1 connection after a burst`, { ours: afterBurst }),
  ];
}
