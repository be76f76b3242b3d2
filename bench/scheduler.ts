/** The scheduler alone: no HTTP, no state, no nodes. */
import type { Job } from '../src/model/job/job.ts';
import type { Node } from '../src/model/node/node.ts';
import type { Benchmark, Figure, Goal, Setting } from './benchmark.ts';
import {
  constrainedJobs,
  fleetSize,
  leastNodes,
  type Mix,
  mixedFleet,
  mixedLoad,
  uniformFleet,
} from './scheduler-load.ts';
import { PaperCluster, type Placed } from './scheduler-paper.ts';
import { PlainScheduler } from './scheduler-plain.ts';

interface Load {
  readonly name: string;
  readonly jobs: readonly Job[];
  /** The plain schedulers are so slow that they place only some of the jobs. */
  readonly sampled: number;
  readonly bruteForced: number;
  readonly target: Goal;
}

const atLeast = (value: number): Goal => ({ of: 'median', is: 'at least', value });

const loads: readonly Load[] = [
  {
    name: 'jobs of 1,000 with constraints',
    jobs: constrainedJobs(100, { count: 1000, spread: false }),
    sampled: 20,
    bruteForced: 2,
    target: atLeast(500_000),
  },
  {
    name: 'the same, spread over 50 racks',
    jobs: constrainedJobs(100, { count: 1000, spread: true }),
    sampled: 3,
    bruteForced: 2,
    target: atLeast(400_000),
  },
  {
    name: 'jobs of 1 with constraints',
    jobs: constrainedJobs(5000, { count: 1, spread: false }),
    sampled: 1000,
    bruteForced: 300,
    target: atLeast(3000),
  },
];

interface Scheduler {
  place(job: Job): Placed;
}

/** Placements per second over all jobs. */
function perSecond(scheduler: Scheduler, jobs: readonly Job[]): number {
  let elapsedMs = 0;
  let placements = 0;
  for (const job of jobs) {
    const placed = scheduler.place(job);
    elapsedMs += placed.elapsedMs;
    placements += placed.nodes.length;
  }
  const asked = jobs.reduce((sum, job) => sum + job.TaskGroups[0]!.Count, 0);
  if (placements !== asked) throw new Error(`${placements} of ${asked} were placed`);
  return (placements / elapsedMs) * 1000;
}

/** @throws Error unless Roster's scheduler makes the same placements as brute force. */
function bruteForce(nodes: readonly Node[], { name, jobs, bruteForced }: Load): number {
  const some = jobs.slice(0, bruteForced);
  const brute = new PlainScheduler(nodes, 'all');
  const ours = new PaperCluster(nodes);
  let elapsedMs = 0;
  let placements = 0;
  for (const job of some) {
    const expected = brute.place(job);
    elapsedMs += expected.elapsedMs;
    placements += expected.nodes.length;
    const actual = ours.place(job);
    const differs = expected.nodes.findIndex((node, at) => actual.nodes[at] !== node);
    if (differs < 0) continue;
    throw new Error(`${name}: placement ${differs} of ${job.ID} is not that of brute force`);
  }
  return (placements / elapsedMs) * 1000;
}

function measureSpeed({ runs, progress }: Setting): readonly Figure[] {
  const nodes = mixedFleet();
  progress('warm-up');
  for (const { jobs } of loads) perSecond(new PaperCluster(nodes), jobs.slice(0, 30));
  return loads.flatMap((load) => {
    const figures = { ours: [] as number[], sampling: [] as number[], brute: [] as number[] };
    for (let run = 1; run <= runs; run++) {
      progress(`${load.name}, run ${run} of ${runs}`);
      figures.ours.push(perSecond(new PaperCluster(nodes), load.jobs));
      const some = load.jobs.slice(0, load.sampled);
      figures.sampling.push(perSecond(new PlainScheduler(nodes, 'sample', run), some));
      figures.brute.push(bruteForce(nodes, load));
    }
    const { ours, sampling, brute } = figures;
    return [
      { name: load.name, unit: '/s', ours, baseline: sampling, target: load.target },
      { name: `${load.name}; the baseline is brute force`, unit: '/s', ours, baseline: brute },
    ];
  });
}

/** Used nodes for each node that the load would fill completely. */
function measurePacking({ runs, progress }: Setting, mix: Mix): Omit<Figure, 'name'> {
  progress(mix.hundreds ? 'packing, with jobs of hundreds' : 'packing');
  const jobs = mixedLoad(mix);
  const nodes = uniformFleet();
  const least = leastNodes(jobs);
  const ours = new PaperCluster(nodes);
  for (const job of jobs) ours.place(job);
  const sampling = Array.from({ length: runs }, (_, run) => {
    const sampler = new PlainScheduler(nodes, 'sample', run + 1);
    for (const job of jobs) sampler.place(job);
    return sampler.used / least;
  });
  // Roster's scheduler is deterministic, so every run has the same result.
  return { unit: '', ours: [ours.used / least], baseline: sampling };
}

export const scheduler: Benchmark = {
  name: 'scheduler',
  title: `Evaluations on ${fleetSize.toLocaleString('en')} nodes, no HTTP and no state: placements`,
  baseline: 'the best of log2(n) nodes taken at random, without reconciling or making allocations',
  takesGiven: false,
  async run(setting) {
    return {
      figures: [
        ...measureSpeed(setting),
        {
          name: 'mixed load: nodes used, of the least that could do',
          ...measurePacking(setting, { hundreds: false }),
          target: { of: 'median', is: 'at most', value: 1.05 },
        },
        {
          name: 'the same with jobs of hundreds alike',
          ...measurePacking(setting, { hundreds: true }),
        },
      ],
      notes: [
        'Ours counts the whole evaluation: reconciling, placing, the plan with its allocations and ' +
          'their metrics, and following the plan into what is kept for the next one. The time in which ' +
          'the thread waited for a processor does not count. Jobs come in ' +
          '20 shapes in turn. Brute force looks at every node for each placement, and does nothing ' +
          'else; each run demands that ours makes the same choices.',
        'The mixed loads are fixed by a seed. Jobs have 1 to 20 instances; tasks of 100 to 2,000 MHz ' +
          'lean to CPU, to memory or to neither; all together ask for 60 % of machines that are all ' +
          'alike. In the second load one job in ten has hundreds of instances. Tasks that lean ' +
          'to memory are then so many that they fill machines alone, and the CPU there stays free: ' +
          'the score of a node takes the instances one by one, without looking ahead.',
        'The sampling scheduler takes the next nodes of a shuffled ring, 2 for a batch job, 13 for a ' +
          'service, and with a spread as many as the job has instances.',
      ],
    };
  },
};
