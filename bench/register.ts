import { withAgent } from './agent.ts';
import { withBaseline } from './baseline.ts';
import { alternate, type Benchmark, type Figure, type Results, type Setting } from './benchmark.ts';
import { drained, joinPaperFleet, paperDatacenter, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { drive, type Load, requestBytes, series } from './load.ts';
import type { Target } from './target.ts';

/** Kinds of jobs, by the result of their evaluation. */
interface Variant {
  readonly name: string;
  readonly job: (id: string) => unknown;
}

const variants: readonly Variant[] = [
  {
    name: 'Count 1, placed',
    job: (id) => smallJob(id, { count: 1, datacenter: paperDatacenter }),
  },
  {
    name: 'Count 1, no node fits',
    job: (id) => smallJob(id, { count: 1, nodeClass: 'none' }),
  },
  { name: 'Count 0', job: (id) => smallJob(id, { count: 0 }) },
];

export const register: Benchmark = {
  name: 'register',
  title: `Durable registration of distinct jobs, ${limits.connections} connections`,
  baseline: 'bare `node:http` that parses the same body and answers as much, but keeps nothing',
  takesGiven: true,
  async run(setting) {
    const results: Results[] = [];
    for (const variant of variants) {
      setting.progress(variant.name);
      // Each kind has an agent of its own, without the rows of the other kind.
      results.push(
        setting.given === undefined
          ? await withAgent(({ target }) => measure(setting, variant, target))
          : await measure(setting, variant, setting.given),
      );
    }
    return {
      figures: results.flatMap(({ figures }) => figures),
      notes: [
        'Every job has one group of one task that asks for 1 MHz and 10 MB. “Placed”: on ' +
          `one of ${limits.paperFleet.nodes} nodes that exist on paper alone, so that no tasks share ` +
          'the machine. “No node fits”: the evaluation looks at every node and ends blocked.',
        `Each run registers ${limits.registrations} new jobs; the jobs of earlier runs stay. ` +
          '“Drained” counts from the last answer until no evaluation is pending.',
      ],
    };
  },
};

interface Registered extends Load {
  readonly drainMs: number;
}

async function measure(setting: Setting, variant: Variant, target: Target): Promise<Results> {
  const fleet = await joinPaperFleet(target, limits.paperFleet);
  const session = Date.now().toString(36);
  const load = (of: Target, run: number, count: number = limits.registrations) =>
    drive(
      of,
      series(count, (number) => {
        const id = `bench-${session}-${run}-${number}`;
        return requestBytes(of, 'POST', '/v1/jobs', JSON.stringify(variant.job(id)));
      }),
    );
  const ours = async (run: number): Promise<Registered> => {
    const registered = await load(target, run);
    const startMs = performance.now();
    await drained(target);
    return { ...registered, drainMs: performance.now() - startMs };
  };
  try {
    const results = await withBaseline(likeRegistration, async (baseline) => {
      setting.progress('warm-up');
      await load(target, 0, limits.registrations / 4);
      await load(baseline.target, 0, limits.registrations / 4);
      await drained(target);
      return alternate(setting, ours, (run) => load(baseline.target, run));
    });
    return { figures: figuresOf(variant, results), notes: [] };
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

function figuresOf(
  { name }: Variant,
  results: { readonly ours: readonly Registered[]; readonly baseline: readonly Load[] },
): Figure[] {
  const pick = (figure: (load: Load) => number) => ({
    ours: results.ours.map(figure),
    baseline: results.baseline.map(figure),
  });
  return [
    {
      name: `${name}: answered`,
      unit: '/s',
      ...pick(({ perSecond }) => perSecond),
      target: { of: 'median', is: 'at least', value: 2_000 },
    },
    { name: `${name}: latency, 99 of 100`, unit: 'ms', ...pick(({ p99Ms }) => p99Ms) },
    { name: `${name}: then drained in`, unit: 'ms', ours: results.ours.map((run) => run.drainMs) },
  ];
}
