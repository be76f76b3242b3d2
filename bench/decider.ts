import { type RunningAgent, rosterCommand, withAgent } from './agent.ts';
import { alternate, type Benchmark, type Figure } from './benchmark.ts';
import { lastOf1000Ms, type Waits, waitsWhile } from './holds-outside.ts';
import { drained, joinPaperFleet, paperDatacenter, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { mainThreadMs, quiet, residentBytes, usedMs } from './processes.ts';
import { call, type Target } from './target.ts';

const { nodes, count, waiting, waitingCount } = limits.decider;
const { warmUpCount, lookAgainMs } = limits.holds;

/** A load, until nothing of it waits to be decided. */
interface Load {
  readonly name: string;
  readonly run: (target: Target) => Promise<void>;
}

const big = (instances: number, seconds: string) =>
  smallJob('decider-big', {
    count: instances,
    datacenter: paperDatacenter,
    arguments: [seconds],
  });

const loads: readonly Load[] = [
  {
    name: `${count.toLocaleString('en')} over ${nodes.toLocaleString('en')} nodes`,
    run: (target) => submit(target, spread(big(count, '600'))),
  },
  {
    name: 'the same again, and nothing to do',
    run: async (target) => {
      for (let time = 0; time < repeats; time++) {
        await call(target, 'PUT', '/v1/job/decider-big/evaluate', { JobID: 'decider-big' });
      }
      await drained(target, lookAgainMs);
    },
  },
  {
    name: `${waiting} jobs that fit on no node`,
    run: async (target) => {
      for (let number = 0; number < waiting; number++) {
        const job = smallJob(`decider-waiting-${number}`, {
          count: waitingCount,
          datacenter: paperDatacenter,
          nodeClass: `no-such-${number}`,
        });
        await call(target, 'POST', '/v1/jobs', job);
      }
      await drained(target, lookAgainMs);
    },
  },
];

const repeats = 20;

/** Every node is looked at for each allocation. */
const spread = ({ Job }: ReturnType<typeof smallJob>) => ({
  Job: { ...Job, Spreads: [{ Attribute: '${node.unique.name}', Weight: 50 }] },
});

async function submit(target: Target, job: object): Promise<void> {
  await call(target, 'POST', '/v1/jobs', job);
  await drained(target, lookAgainMs);
}

/** Of a load. */
interface Measured {
  readonly elapsedMs: number;
  readonly mainMs: number;
  readonly allMs: number;
  readonly waits: Waits;
}

export const decider: Benchmark = {
  name: 'decider',
  title: 'An agent with a decider: what leaves the main thread',
  baseline: 'the same agent without a decider',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    const results = await alternate(
      setting,
      () => withAgent(measure, rosterCommand, { decider: true }),
      () => withAgent(measure, rosterCommand, { decider: false }),
    );
    const figures = loads.flatMap(({ name }, at): Figure[] => {
      const of = (what: string, pick: (one: Measured) => number): Figure => ({
        name: `${name}: ${what}`,
        unit: 'ms',
        ours: results.ours.map((run) => pick(run.loads[at]!)),
        baseline: results.baseline.map((run) => pick(run.loads[at]!)),
      });
      return [
        of('processor time, main thread', ({ mainMs }) => mainMs),
        of('processor time, all threads', ({ allMs }) => allMs),
        of('until nothing waits', ({ elapsedMs }) => elapsedMs),
        of('a request meanwhile, median', ({ waits }) => waits.p50Ms),
        of('99 of 100', ({ waits }) => waits.p99Ms),
        {
          name: `${name}: 999 of 1,000`,
          unit: 'ms',
          ours: [lastOf1000Ms(results.ours.map((run) => run.loads[at]!.waits))],
          baseline: [lastOf1000Ms(results.baseline.map((run) => run.loads[at]!.waits))],
        },
        of('longest', ({ waits }) => waits.maxMs),
      ];
    });
    const memory = (name: string, pick: (run: Run) => number): Figure => ({
      name: `memory of the decider, ${name}`,
      unit: 'MB',
      ours: results.ours.map((run, at) => (pick(run) - pick(results.baseline[at]!)) / 2 ** 20),
    });
    return {
      figures: [
        ...figures,
        memory('fresh', ({ freshBytes }) => freshBytes),
        memory('after the loads', ({ filledBytes }) => filledBytes),
      ],
      notes: [
        'The nodes exist on paper alone. The main thread commits plans, answers requests and feeds the decider; it decides ' +
          'nothing. A request goes out each 10 ms from another process. The last of 1,000 is that of all runs together.',
        'Memory of the decider: the resident memory of the agent at rest with it, without that of the agent without.',
      ],
    };
  },
};

interface Run {
  readonly freshBytes: number;
  readonly filledBytes: number;
  readonly loads: readonly Measured[];
}

async function measure({ target, pid }: RunningAgent): Promise<Run> {
  await quiet(pid);
  const freshBytes = residentBytes(pid);
  const fleet = await joinPaperFleet(target, { nodes, jobsEach: Math.ceil((3 * count) / nodes) });
  try {
    await submit(target, smallJob('warm-up', { count: warmUpCount, datacenter: paperDatacenter }));
    const found: Measured[] = [];
    for (const { run } of loads) found.push(await measured({ target, pid }, run));
    await quiet(pid);
    return { freshBytes, filledBytes: residentBytes(pid), loads: found };
  } finally {
    fleet.leave();
  }
}

async function measured(
  { target, pid }: Pick<RunningAgent, 'target' | 'pid'>,
  run: Load['run'],
): Promise<Measured> {
  const before = { main: mainThreadMs(pid), all: usedMs(pid), atMs: performance.now() };
  let elapsedMs = 0;
  const waits = await waitsWhile(target, async () => {
    await run(target);
    elapsedMs = performance.now() - before.atMs;
  });
  const mainMs = mainThreadMs(pid) - before.main;
  return { elapsedMs, mainMs, allMs: usedMs(pid) - before.all, waits };
}
