import { readFileSync } from 'node:fs';
import { onTarget } from './agent.ts';
import type { Answer } from './answer-reader.ts';
import { type BaselineOptions, withBaseline } from './baseline.ts';
import { alternate, type Benchmark, type Results, type Setting } from './benchmark.ts';
import { jobPath, purge, settled } from './jobs.ts';
import { limits } from './limits.ts';
import { Connection, drive, type Load, requestBytes, steadily } from './load.ts';
import { call, type Target } from './target.ts';

const id = 'bench-read';

export const readJob: Benchmark = {
  name: 'read-job',
  title: `GET /v1/job/:id with a token, ${limits.connections} connections`,
  baseline: 'bare `node:http` that sends the same bytes and headers',
  takesGiven: true,
  run: onTarget(measure),
};

async function measure(setting: Setting, target: Target): Promise<Results> {
  await call(target, 'POST', '/v1/jobs', exampleJob(id));
  await settled(target, id);
  const request = requestBytes(target, 'GET', jobPath(id));
  const answer = await once(target, request);
  const load = (of: Target, durationMs: number = limits.steadyMs) =>
    drive(of, steadily(requestBytes(of, 'GET', jobPath(id)), durationMs));
  const results = await withBaseline(sameAs(answer), async (baseline) => {
    setting.progress('warm-up');
    await load(target, limits.warmUpMs);
    await load(baseline.target, limits.warmUpMs);
    return alternate(
      setting,
      () => load(target),
      () => load(baseline.target),
    );
  });
  await purge(target, id);
  const pick = (figure: (load: Load) => number) => ({
    ours: results.ours.map(figure),
    baseline: results.baseline.map(figure),
  });
  return {
    figures: [
      {
        name: 'answers',
        unit: '/s',
        ...pick(({ perSecond }) => perSecond),
        target: { of: 'ratio', is: 'at least', value: 0.75 },
      },
      { name: 'latency, median', unit: 'ms', ...pick(({ p50Ms }) => p50Ms) },
      { name: 'latency, 99 of 100', unit: 'ms', ...pick(({ p99Ms }) => p99Ms) },
    ],
    notes: [`The job is examples/web.json with no instances: ${answer.body.length} bytes of JSON.`],
  };
}

/** The job of the first example with counts of 0, so that no task starts. */
export function exampleJob(id: string): unknown {
  const file = new URL('../examples/web.json', import.meta.url);
  const { Job } = JSON.parse(readFileSync(file, 'utf8')) as {
    Job: { TaskGroups: readonly object[] };
  };
  const groups = Job.TaskGroups.map((group) => ({ ...group, Count: 0 }));
  return { Job: { ...Job, ID: id, Name: id, TaskGroups: groups } };
}

async function once(target: Target, request: Buffer): Promise<Answer> {
  const connection = await Connection.open(target);
  const answer = await connection.send(request);
  connection.close();
  return answer;
}

/** Headers that `node:http` writes by itself are left to it. */
const written = ['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding'];

function sameAs({ head, body }: Answer): BaselineOptions {
  const lines = head.split('\r\n').slice(1);
  const headers = lines
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
    .filter(([name]) => !written.includes(name!.toLowerCase()));
  return { headers: Object.fromEntries(headers), body: body.toString() };
}
