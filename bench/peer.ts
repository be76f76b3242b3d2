/** The same loads for Roster and for another program that serves the same paths. */
import { rosterCommand } from './agent.ts';
import { withBaseline } from './baseline.ts';
import { type Benchmark, type Figure, type Results, type Setting, until } from './benchmark.ts';
import { syncsPerSecond } from './disk.ts';
import { jobPath, readyNode, settled } from './jobs.ts';
import { limits } from './limits.ts';
import { requestBytes } from './load.ts';
import { peerFigures } from './peer-figures.ts';
import { residentBytes } from './processes.ts';
import { isInstalled, type Program, type RunningProgram, withProgram } from './program.ts';
import { exampleJob } from './read-job.ts';
import { registrations } from './register.ts';
import { manyTasks, oneJob } from './run-job.ts';
import { percentile } from './statistics.ts';
import { call, type Target } from './target.ts';
import { load } from './wrk.ts';

const roster: Program = {
  command:
    `${rosterCommand} agent --dev --http 127.0.0.1:{port} --root-token {token} ` +
    '--data-dir {directory}/data --tasks-on-exit stop --log-level warn',
  address: 'http://127.0.0.1:{port}',
};

export const peer: Benchmark = {
  name: 'peer',
  title: 'The same loads for another program that serves the same paths',
  baseline: 'the other program',
  takesGiven: false,
  usesWrk: true,
  isDurable: true,
  async run(setting) {
    const { peer: program } = setting;
    const measured = program !== undefined && isInstalled(program) ? program : undefined;
    const runs: Run[] = [];
    for (let run = 1; run <= setting.runs; run++) {
      setting.progress(`run ${run} of ${setting.runs}`);
      const ours = await withProgram(roster, measure);
      const theirs = measured && (await withProgram(measured, measure));
      runs.push({ ours, theirs });
    }
    return resultsOf(setting, runs);
  },
};

type Measured = Readonly<Record<keyof typeof rows, number>>;

interface Run {
  readonly ours: Measured;
  readonly theirs: Measured | undefined;
}

const rows = {
  readyMs: { name: 'start to the first 200', unit: 'ms' },
  coldPerSecond: { name: 'GET of a job, cold: answered', unit: '/s' },
  coldP99Ms: { name: 'GET of a job, cold: last of 100', unit: 'ms' },
  coldP999Ms: { name: 'GET of a job, cold: last of 1,000', unit: 'ms' },
  readsPerSecond: { name: 'GET of a job, warm: answered', unit: '/s', atLeast: 1.8 },
  readUs: { name: 'GET of a job, warm: processor time of an answer', unit: 'µs' },
  readsP99Ms: { name: 'GET of a job, warm: last of 100', unit: 'ms' },
  readsP999Ms: { name: 'GET of a job, warm: last of 1,000', unit: 'ms' },
  residentMb: { name: 'resident memory then', unit: 'MB' },
  runningMs: { name: 'submit to running', unit: 'ms' },
  manyRunningMs: { name: `${limits.runTasks} tasks running`, unit: 'ms' },
  alonePerSecond: { name: 'POST of a job, 1 connection: answered', unit: '/s' },
  writesPerSecond: { name: 'POST of a job: answered', unit: '/s', atLeast: 3 },
  writeUs: { name: 'POST of a job: processor time of an answer', unit: 'µs' },
  writesP99Ms: { name: 'POST of a job: last of 100', unit: 'ms' },
  writesP999Ms: { name: 'POST of a job: last of 1,000', unit: 'ms' },
  afterBurstPerSecond: {
    name: 'POST of a job, 1 connection after that: answered',
    unit: '/s',
    atLeast: 1.5,
  },
  listMs: { name: 'list of all jobs, for each 1,000', unit: 'ms' },
  bare: { name: 'yardstick beside the reads: bare `node:http`', unit: '/s' },
  syncs: { name: 'yardstick beside the writes: `fdatasync`', unit: '/s' },
} as const;

async function measure({ target, pid, readyMs }: RunningProgram): Promise<Measured> {
  const id = 'bench-peer';
  await call(target, 'POST', '/v1/jobs', exampleJob(id));
  await settled(target, id);
  const read = requestBytes(target, 'GET', jobPath(id));
  const cold = await load(target, read);
  await load(target, read, { seconds: limits.warmUpSeconds });
  const reads = await load(target, read);
  const body = JSON.stringify(exampleJob(id));
  const bare = await withBaseline({ headers: {}, body }, (baseline) => load(baseline.target, read));
  const residentMb = residentBytes(pid) / 1024 ** 2;
  await readyNode(target);
  const ranMs: number[] = [];
  for (let number = 0; number < limits.runJobs; number++) {
    ranMs.push(await oneJob(target, `bench-run-${number}`));
  }
  const manyRunningMs = await manyTasks(target, 'bench-many');
  const alone = await registrations(target, 'alone', { connections: 1 });
  const writes = await registrations(target, 'burst');
  const afterBurst = await registrations(target, 'after', { connections: 1 });
  const syncs = await syncsPerSecond();
  return {
    readyMs,
    coldPerSecond: cold.perSecond,
    coldP99Ms: cold.p99Ms,
    coldP999Ms: cold.p999Ms,
    readsPerSecond: reads.perSecond,
    readUs: reads.serverUs,
    readsP99Ms: reads.p99Ms,
    readsP999Ms: reads.p999Ms,
    residentMb,
    runningMs: percentile(ranMs, 50),
    manyRunningMs,
    alonePerSecond: alone.perSecond,
    writesPerSecond: writes.perSecond,
    writeUs: writes.serverUs,
    writesP99Ms: writes.p99Ms,
    writesP999Ms: writes.p999Ms,
    afterBurstPerSecond: afterBurst.perSecond,
    listMs: await listMs(target),
    bare: bare.perSecond,
    syncs,
  };
}

/** Milliseconds of the list for each 1,000 jobs, once nothing is left to be evaluated. */
async function listMs(target: Target): Promise<number> {
  const pending = encodeURIComponent('Status == "pending"');
  await until('that nothing is left to be evaluated', async () => {
    const path = `/v1/evaluations?per_page=1&filter=${pending}`;
    const { value } = await call<readonly unknown[]>(target, 'GET', path);
    return value.length === 0 ? true : undefined;
  });
  const { value: jobs } = await call<readonly unknown[]>(target, 'GET', '/v1/jobs');
  const request = requestBytes(target, 'GET', '/v1/jobs');
  const { p50Ms } = await load(target, request, { connections: 1 });
  return (p50Ms / jobs.length) * 1000;
}

function resultsOf({ peer: program }: Setting, runs: readonly Run[]): Results {
  const isMeasured = runs[0]!.theirs !== undefined;
  const figures = Object.entries(rows).map(([key, row]): Figure => {
    const of = key as keyof Measured;
    const baseline = runs.flatMap((run) => run.theirs?.[of] ?? carriedOver(of, run) ?? []);
    return {
      name: row.name,
      unit: row.unit,
      ours: runs.map(({ ours }) => ours[of]),
      ...(baseline.length > 0 && { baseline }),
      ...('atLeast' in row && { target: { of: 'ratio', is: 'at least', value: row.atLeast } }),
    };
  });
  return {
    baseline: isMeasured ? `\`${program!.command}\`, measured` : carriedText,
    figures,
    notes: [
      `Unless it says 1, there are ${limits.connections} connections. The registered jobs have no instances. ` +
        '“Cold” is the first load after the start; Roster is a checkout and keeps its state on the disk.',
    ],
  };
}

const { program, yardsticks: then } = peerFigures;
const carriedText =
  `${program}, carried over: its figures of another run, times what the yardstick of the run is here to what it ` +
  `was there (bare \`node:http\` ${then.bare}/s for reads and lists, \`fdatasync\` ${then.syncs}/s for durable ` +
  'writes); the start, memory and running tasks are as they were there';

/** A figure of the other program, as it would be in this run; `undefined` if it was not measured. */
function carriedOver(key: keyof Measured, run: Run): number | undefined {
  if (!(key in peerFigures.figures)) return undefined;
  const { value, by } = peerFigures.figures[key as keyof typeof peerFigures.figures];
  const times = by === undefined ? 1 : run.ours[by] / then[by];
  return rows[key].unit === '/s' ? value * times : value / times;
}
