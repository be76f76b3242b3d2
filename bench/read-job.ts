import { readFileSync } from 'node:fs';
import { withAgent } from './agent.ts';
import type { Answer } from './answer-reader.ts';
import { type BaselineOptions, withBaseline } from './baseline.ts';
import type { Benchmark, Results, Setting } from './benchmark.ts';
import { jobPath, purge, settled } from './jobs.ts';
import { limits } from './limits.ts';
import { Connection, requestBytes } from './load.ts';
import { call, type Target } from './target.ts';
import { costNote, type Load, load, loadFigures, partFigure } from './wrk.ts';

const id = 'bench-read';

export const readJob: Benchmark = {
  name: 'read-job',
  title: `GET /v1/job/:id with a token, ${limits.connections} connections`,
  baseline: 'bare `node:http` that sends the same bytes and headers',
  takesGiven: true,
  usesWrk: true,
  run: measure,
};

interface Pair {
  readonly ours: Load;
  readonly baseline: Load;
}

interface Run {
  /** The first seconds after the start; `undefined` for a server that had started before. */
  readonly cold: Pair | undefined;
  readonly warm: Pair;
  /** Length of the body. */
  readonly bytes: number;
}

async function measure({ runs, given, progress }: Setting): Promise<Results> {
  const found: Run[] = [];
  for (let run = 1; run <= runs; run++) {
    progress(`run ${run} of ${runs}`);
    found.push(
      given === undefined
        ? await withAgent(({ target }) => oneRun(target, true))
        : await oneRun(given, false),
    );
  }
  const cold = loadsOf(found.flatMap((run) => run.cold ?? []));
  const warm = loadsOf(found.map((run) => run.warm));
  const lastOf100 = { p99Ms: { of: 'median', is: 'at most', value: 16 } } as const;
  return {
    figures: [
      ...loadFigures('cold', cold, lastOf100),
      ...loadFigures('warm', warm, lastOf100),
      partFigure('warm', warm, 0.8),
    ],
    notes: [
      `The job is examples/web.json with no instances: ${found[0]!.bytes} bytes of JSON. Each run has new ` +
        `processes. “Cold” is the first ${limits.loadSeconds} s of requests right after their start; ` +
        `another ${limits.warmUpSeconds} s follow before “warm”.`,
      costNote(warm.ours),
    ],
  };
}

const loadsOf = (pairs: readonly Pair[]) => ({
  ours: pairs.map(({ ours }) => ours),
  baseline: pairs.map(({ baseline }) => baseline),
});

async function oneRun(target: Target, isNew: boolean): Promise<Run> {
  await call(target, 'POST', '/v1/jobs', exampleJob(id));
  await settled(target, id);
  const answer = await once(target, requestBytes(target, 'GET', jobPath(id)));
  const cold = isNew ? await read(target) : undefined;
  const run = await withBaseline(sameAs(answer), async ({ target: bare }) => {
    const baseline = await read(bare);
    await read(target, limits.warmUpSeconds);
    await read(bare, limits.warmUpSeconds);
    const warm = { ours: await read(target), baseline: await read(bare) };
    return { cold: cold && { ours: cold, baseline }, warm, bytes: answer.body.length };
  });
  await purge(target, id);
  return run;
}

const read = (target: Target, seconds: number = limits.loadSeconds): Promise<Load> =>
  load(target, requestBytes(target, 'GET', jobPath(id)), { seconds });

/** The job of the first example with counts of 0, so that no task starts. */
export function exampleJob(id: string): unknown {
  const file = new URL('../examples/web.json', import.meta.url);
  const { Job } = JSON.parse(readFileSync(file, 'utf8')) as {
    Job: { TaskGroups: readonly object[] };
  };
  const groups = Job.TaskGroups.map((group) => ({ ...group, Count: 0 }));
  return { Job: { ...Job, ID: id, Name: id, TaskGroups: groups } };
}

/** A single answer, with its headers as they were sent. */
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
