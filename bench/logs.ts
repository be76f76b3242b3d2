import { readdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { withAgent } from './agent.ts';
import { type Benchmark, type Figure, type Setting, until } from './benchmark.ts';
import { jobPath, purge, readyNode } from './jobs.ts';
import { limits } from './limits.ts';
import { isAlive, processesNaming, residentBytes, usedMs } from './processes.ts';
import { call, type Target } from './target.ts';

const { restMs, settleMs, measureMs, fileMb, files } = limits.logFlood;
const mebibyte = 2 ** 20;

/** The behaviour of the reader of a log. */
type Reader = 'reads all' | 'reads nothing';

export const logs: Benchmark = {
  name: 'logs',
  title: 'Following the log of a task that prints as fast as it may',
  baseline: 'there is none',
  takesGiven: false,
  async run(setting) {
    const readers: readonly Reader[] = ['reads all', 'reads nothing'];
    const figures: Figure[] = [];
    for (const reader of readers) {
      const floods: Flood[] = [];
      for (let run = 1; run <= setting.runs; run++) floods.push(await flood(setting, reader, run));
      const figure = (name: string, unit: string, of: (one: Flood) => number): Figure => ({
        name: `a reader that ${reader}: ${name}`,
        unit,
        ours: floods.map(of),
      });
      figures.push(
        figure('the task prints', 'MB/s', ({ printed }) => printed),
        ...(reader === 'reads all' ? [figure('is read', 'MB/s', (one) => one.read)] : []),
        {
          ...figure('memory of the agent grows by', 'MB', ({ agentMb }) => agentMb),
          target: { of: 'median', is: 'at most', value: 16 },
        },
        {
          ...figure('memory of the supervisor grows by', 'MB', ({ supervisorMb }) => supervisorMb),
          target: { of: 'median', is: 'at most', value: 8 },
        },
        figure('processor time of the agent', '% of a core', ({ agentPercent }) => agentPercent),
      );
    }
    return {
      figures,
      notes: [
        `The task is \`yes\`, its log is kept in ${files} files of ${fileMb} MB, and the reader follows it ` +
          `over HTTP. Memory is read before it begins, when the task has run for ${settleMs / 1000} s, and again after ` +
          `${measureMs / 1000} s of reading: the growth in between is the figure. A task prints no faster than ` +
          'its log is written; a slower reader is told of the part that it missed.',
      ],
    };
  },
};

interface Flood {
  readonly printed: number;
  readonly read: number;
  readonly agentMb: number;
  readonly supervisorMb: number;
  readonly agentPercent: number;
}

const flood = ({ progress }: Setting, reader: Reader, run: number): Promise<Flood> =>
  withAgent(async ({ target, pid }, folder) => {
    await readyNode(target);
    // Otherwise the garbage of its start is collected during the flood, and its memory shrinks.
    await sleep(restMs);
    const [supervisor = 0] = processesNaming(folder).filter((one) => one !== pid && isAlive(one));
    const id = await startFlood(target);
    const directory = join(folder, 'data', 'node', 'alloc', id, 'alloc', 'logs');
    progress(`run ${run}: ${reader}`);
    await sleep(settleMs);
    const look = () => ({
      atMs: performance.now(),
      printed: printedBytes(directory),
      agent: residentBytes(pid),
      supervisor: residentBytes(supervisor),
      used: usedMs(pid),
    });
    const before = look();
    const follower = follow(target, id, reader);
    await sleep(measureMs);
    const after = look();
    follower.leave();
    await purge(target, 'flood');
    const passedMs = after.atMs - before.atMs;
    return {
      printed: (after.printed - before.printed) / 1e3 / passedMs,
      read: follower.bytes() / 1e3 / passedMs,
      agentMb: (after.agent - before.agent) / mebibyte,
      supervisorMb: (after.supervisor - before.supervisor) / mebibyte,
      agentPercent: ((after.used - before.used) / passedMs) * 100,
    };
  });

const sleep = (durationMs: number) => new Promise((resolve) => setTimeout(resolve, durationMs));

/** Resolves with the id of the job's allocation when it runs. */
async function startFlood(target: Target): Promise<string> {
  await call(target, 'POST', '/v1/jobs', floodJob);
  type Allocations = readonly { readonly ID: string; readonly ClientStatus: string }[];
  return until('that the task runs', async () => {
    const { value } = await call<Allocations>(target, 'GET', `${jobPath('flood')}/allocations`);
    return value.find(({ ClientStatus }) => ClientStatus === 'running')?.ID;
  });
}

const floodJob = {
  Job: {
    ID: 'flood',
    Type: 'service',
    Datacenters: ['*'],
    TaskGroups: [
      {
        Name: 'group',
        Tasks: [
          {
            Name: 'task',
            Driver: 'raw_exec',
            Config: { command: 'yes', args: ['a line of a log that nobody will ever read again'] },
            Resources: { CPU: 100, MemoryMB: 10 },
            LogConfig: { MaxFiles: files, MaxFileSizeMB: fileMb },
          },
        ],
      },
    ],
  },
};

/** Bytes written so far, since all files but the newest were full. */
function printedBytes(directory: string): number {
  const indexes = readdirSync(directory)
    .map((name) => Number(/^task\.stdout\.(\d+)$/.exec(name)?.[1] ?? -1))
    .sort((left, right) => left - right);
  const newest = indexes.at(-1) ?? 0;
  const path = join(directory, `task.stdout.${newest}`);
  // On a busy machine, rotation may have removed the file meanwhile: then it was full.
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: fileMb * mebibyte };
  return newest * fileMb * mebibyte + size;
}

function follow({ host, port, token }: Target, id: string, reader: Reader) {
  let bytes = 0;
  const path = `/v1/client/fs/logs/${id}?task=task&type=stdout&follow=true&plain=true`;
  const asked = request({ host, port, path, headers: { 'x-registry-token': token } }, (answer) => {
    answer.on('error', () => {});
    if (reader === 'reads all') answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
    else answer.pause();
  });
  asked.on('error', () => {});
  asked.end();
  return { bytes: () => bytes, leave: () => asked.destroy() };
}
