/** The cost of a plan over HTTP, and of the comparison of two jobs alone. */
import { canonicalizeJob } from '../src/model/job/canonicalize.ts';
import type { Job } from '../src/model/job/job.ts';
import { compareJobs } from '../src/model/job-diff/compare-jobs.ts';
import { withAgent } from './agent.ts';
import { withBaseline } from './baseline.ts';
import { alternate, type Benchmark, type Figure, type Results, type Setting } from './benchmark.ts';
import { jobPath, joinPaperFleet, paperDatacenter, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { percentile } from './statistics.ts';
import { ask, call, type Target } from './target.ts';
import { warmMs } from './thread-time.ts';

const { nodes, count, groups, repeats } = limits.plan;

export const plan: Benchmark = {
  name: 'plan',
  title: `Plan of a job with ${count} allocations on ${nodes} nodes, with its differences`,
  baseline: 'bare `node:http` that parses the same body and answers the first 64 KB of the same',
  takesGiven: false,
  isDurable: true,
  run: (setting) => withAgent(({ target }) => measure(setting, target)),
};

interface Kind {
  readonly name: string;
  readonly body: object;
  /** The path below the job. */
  readonly path: string;
}

async function measure(setting: Setting, target: Target): Promise<Results> {
  const fleet = await joinPaperFleet(target, { nodes, jobsEach: 20 });
  try {
    const fresh = smallJob('bench-new', { count, datacenter: paperDatacenter });
    const running = smallJob('bench-running', { count, datacenter: paperDatacenter });
    await carriedOut(target, running);
    const other = smallJob('bench-running', {
      count,
      datacenter: paperDatacenter,
      arguments: ['601'],
    });
    const kinds: Kind[] = [
      { name: 'a new job', path: 'bench-new', body: { ...fresh, Diff: true } },
      { name: 'one that runs and stays', path: 'bench-running', body: { ...running, Diff: true } },
      { name: 'one that runs and is replaced', path: 'bench-running', body: atOnce(other) },
    ];
    const figures: Figure[] = [];
    for (const kind of kinds) figures.push(await planned(setting, target, kind));
    return {
      figures: [...figures, ...carrying(await carryOuts(setting, target)), difference(setting)],
      notes: [
        'The nodes exist on paper alone. Every job has one group of one task; “replaced” is without ' +
          `steps, so that all ${count} are placed anew and stopped. A run is ${repeats} plans one after ` +
          'another, of which the median counts, from the request to the last byte; the first ten are not ' +
          'counted. Each plan is kept: its row is durable before the answer, which takes 1.5 to 2 ms.',
        '“Carried out” is the registration by the id of the plan: decided again, compared, and ' +
          'committed with the job in one durable transaction.',
        `The two jobs of ${groups} groups have a service with a check, constraints and meta in each, ` +
          'and differ in every group. They are compared in this process, without HTTP: warm medians of ' +
          'the thread’s processor time.',
      ],
    };
  } finally {
    fleet.leave();
  }
}

const atOnce = ({ Job }: ReturnType<typeof smallJob>): object => ({
  Job: { ...Job, Update: { MaxParallel: 0 } },
  Diff: true,
});

const planPath = (id: string): string => `${jobPath(id)}/plan`;

async function planned(setting: Setting, target: Target, { name, path, body }: Kind) {
  const { body: answer } = await ask(target, 'POST', planPath(path), body);
  const once = async (of: Target): Promise<number> => {
    const startMs = performance.now();
    const { status } = await ask(of, 'POST', planPath(path), body);
    if (status !== 200) throw new Error(`the plan of ${name} was answered with ${status}`);
    return performance.now() - startMs;
  };
  const run = async (of: Target): Promise<number> => {
    const tookMs: number[] = [];
    for (let number = 0; number < repeats; number++) tookMs.push(await once(of));
    return percentile(tookMs, 50);
  };
  const results = await withBaseline(
    { headers: {}, body: answer.toString('latin1', 0, 65_536) },
    async (baseline) => {
      setting.progress(`${name}: warm-up`);
      await run(target);
      return alternate(
        setting,
        () => run(target),
        () => run(baseline.target),
      );
    },
  );
  return {
    name: `plan of ${name}`,
    unit: 'ms',
    ...results,
    target: { of: 'median', is: 'at most', value: 100 },
  } satisfies Figure;
}

/** Plans the job and carries the plan out; returns how long the second step took. */
async function carriedOut(target: Target, body: { readonly Job: { readonly ID: string } }) {
  const id = body.Job.ID;
  type Planned = { readonly PlanID: string };
  const { value } = await call<Planned>(target, 'POST', planPath(id), body);
  const startMs = performance.now();
  await call(target, 'POST', '/v1/jobs', { ...body, PlanID: value.PlanID });
  return performance.now() - startMs;
}

async function carryOuts({ runs, progress }: Setting, target: Target): Promise<number[]> {
  const tookMs: number[] = [];
  for (let run = 1; run <= runs; run++) {
    progress(`carried out, run ${run} of ${runs}`);
    const job = smallJob(`bench-carried-${run}`, { count, datacenter: paperDatacenter });
    tookMs.push(await carriedOut(target, job));
  }
  return tookMs;
}

const carrying = (ours: readonly number[]): Figure[] => [
  { name: 'a plan of a new job, carried out', unit: 'ms', ours },
];

/** A version of a large job. It shares no objects with other versions, like a version read from the state. */
const manyGroups = (number: number): Job =>
  canonicalizeJob({
    ID: 'bench-diff',
    Constraints: [{ LTarget: '${attr.arch}', Operand: '=', RTarget: 'amd64' }],
    TaskGroups: Array.from({ length: groups }, (_, at) => ({
      Name: `group-${at}`,
      Count: number,
      Meta: { version: String(number), rack: `r${at}` },
      Constraints: [{ LTarget: '${meta.rack}', Operand: '=', RTarget: `r${number}` }],
      Networks: [
        { Mode: 'host', DynamicPorts: [{ Label: 'http' }, { Label: 'admin', To: number }] },
      ],
      Services: [
        {
          Name: `service-${at}`,
          PortLabel: 'http',
          Tags: ['a', `v${number}`],
          Checks: [{ Name: 'up', Type: 'http', Path: `/v${number}`, Interval: 10e9, Timeout: 2e9 }],
        },
      ],
      Tasks: [
        {
          Name: 'server',
          Driver: 'raw_exec',
          Config: { command: 'server', args: ['--version', String(number)] },
          Env: { VERSION: String(number), PORT: '80' },
          Resources: { CPU: 100 * number, MemoryMB: 64 },
        },
      ],
    })),
  });

function difference({ runs, progress }: Setting): Figure {
  progress('differences');
  const [old, next] = [manyGroups(1), manyGroups(2)];
  const ours = Array.from({ length: runs }, () => warmMs(() => compareJobs(old, next)));
  return {
    name: `difference of two jobs of ${groups} groups`,
    unit: 'ms',
    ours,
    target: { of: 'median', is: 'at most', value: 20 },
  };
}
