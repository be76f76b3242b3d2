import { onTarget } from './agent.ts';
import { withBaseline } from './baseline.ts';
import {
  alternate,
  type Benchmark,
  type Results,
  type Setting,
  tookFigures,
  until,
} from './benchmark.ts';
import { folderUs } from './disk.ts';
import { jobPath, noPause, purge, readyNode, running, smallJob, tinyJob } from './jobs.ts';
import { limits } from './limits.ts';
import { ask, call, type Target } from './target.ts';

export const runJob: Benchmark = {
  name: 'run-job',
  title: 'From the POST of a job to `running` seen by a blocking query, `raw_exec`',
  baseline: 'bare `node:http` that starts the same process and answers once it has started',
  takesGiven: true,
  isDurable: true,
  run: onTarget(measure),
};

async function measure(setting: Setting, target: Target): Promise<Results> {
  await readyNode(target);
  const session = Date.now().toString(36);
  const empty = { headers: {}, body: '{}' };
  const ours = (run: number) =>
    oneAfterAnother((number) => oneJob(target, `bench-${session}-${run}-${number}`));
  const results = await withBaseline(empty, async (baseline) => {
    setting.progress('warm-up');
    await ours(0);
    return alternate(setting, ours, () => oneAfterAnother(() => oneProcess(baseline.target)));
  });
  const folders = [await folderUs()];
  const many: number[] = [];
  for (let run = 1; run <= setting.runs; run++) {
    setting.progress(`${limits.runTasks} tasks, run ${run} of ${setting.runs}`);
    many.push(await manyTasks(target, `bench-${session}-many-${run}`));
  }
  folders.push(await folderUs());
  const all = results.ours.flat();
  return {
    figures: [
      ...tookFigures('to running', results, 38),
      {
        name: `a job of ${limits.runTasks} tasks, to all running`,
        unit: 'ms',
        ours: many,
        target: { of: 'median', is: 'at most', value: 500 },
      },
      { name: 'the disk: processor time to make a folder', unit: 'µs', ours: folders },
    ],
    notes: [
      `${all.length} jobs in all, one after another, each of one task that runs \`/bin/sleep\`; a ` +
        'job is purged before the next. The query blocks on the allocations of the job.',
      'For each task, agent and supervisor need about 17 files and folders: ten folders, the logs, their pipes, and the ' +
        'record of the allocation whenever it changes. Folders, pipes and records are made ahead, at rest: a first burst of ' +
        'tasks takes longer where the disk takes long to make a folder.',
    ],
  };
}

async function oneAfterAnother(once: (number: number) => Promise<number>): Promise<number[]> {
  const tookMs: number[] = [];
  for (let number = 0; number < limits.runJobs; number++) tookMs.push(await once(number));
  return tookMs;
}

/** Returns how long it took until all tasks ran. */
export async function manyTasks(target: Target, id: string): Promise<number> {
  const startMs = performance.now();
  await call(target, 'POST', '/v1/jobs', tinyJob(id, limits.runTasks));
  await running(target, id, limits.runTasks);
  const tookMs = performance.now() - startMs;
  await call(target, 'DELETE', jobPath(id));
  await running(target, id, 0);
  await purge(target, id);
  return tookMs;
}

interface AllocationFacts {
  readonly ClientStatus: string;
}

/** Returns how long it took until the task of a job ran. */
export async function oneJob(target: Target, id: string): Promise<number> {
  const startMs = performance.now();
  await call(target, 'POST', '/v1/jobs', smallJob(id, { count: 1 }));
  let index = 0;
  await statuses((status) => status === 'running');
  const tookMs = performance.now() - startMs;
  await call(target, 'DELETE', jobPath(id));
  await statuses((status) => status === 'complete' || status === 'failed');
  await purge(target, id);
  return tookMs;

  function statuses(wanted: (status: string) => boolean): Promise<true> {
    const look = async () => {
      const path = `${jobPath(id)}/allocations?index=${index}&wait=10s`;
      const found = await call<readonly AllocationFacts[]>(target, 'GET', path);
      index = found.index;
      const { value } = found;
      if (value.some(({ ClientStatus }) => ClientStatus === 'lost')) throw new Error(`${id}: lost`);
      return value.some(({ ClientStatus }) => wanted(ClientStatus)) ? true : undefined;
    };
    return until(`that ${id} gets on`, look, noPause);
  }
}

async function oneProcess(target: Target): Promise<number> {
  const startMs = performance.now();
  await ask(target, 'POST', '/', { command: '/bin/sleep', args: ['600'] });
  return performance.now() - startMs;
}
