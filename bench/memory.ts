/** The memory of an agent and its supervisor at rest. */
import { join } from 'node:path';
import {
  copyNode,
  installBundle,
  type RunningAgent,
  startAgent,
  temporaryFolder,
} from './agent.ts';
import type { Benchmark, Figure, Setting } from './benchmark.ts';
import { readyNode, running, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { privateBytes, residentBytes, sharedOutBytes, supervisorOf } from './processes.ts';
import { call } from './target.ts';

export const memory: Benchmark = {
  name: 'memory',
  title: 'Memory of the bundled agent at rest, with a node and a job that runs',
  baseline: 'there is none',
  takesGiven: false,
  async run(setting) {
    const found = await readAtRest(setting);
    const figure = (name: string, of: (read: Read) => number, most?: number): Figure => ({
      name,
      unit: 'MB',
      ours: found.map((read) => of(read) / 1024 ** 2),
      ...(most !== undefined && { target: { of: 'median', is: 'at most', value: most } }),
    });
    return {
      figures: [
        figure('agent and supervisor, `Pss`', (read) => read.agent.pss + read.supervisor.pss, 90),
        figure('supervisor, private', (read) => read.supervisor.own, 12),
        figure('agent, private', (read) => read.agent.own),
        figure('agent, RSS', (read) => read.agent.rss),
        figure('supervisor, RSS', (read) => read.supervisor.rss),
      ],
      notes: [
        `Read ${restOf(setting)} s after the job began to run. \`Pss\` is the resident memory in which a ` +
          'page that several processes have counts in parts. Each agent has a Node of its own, whose ' +
          'pages it has in common with its supervisor alone.',
      ],
    };
  },
};

/** Bytes of a process. */
interface Held {
  readonly pss: number;
  readonly own: number;
  readonly rss: number;
}

interface Read {
  readonly agent: Held;
  readonly supervisor: Held;
}

/** Agents at rest take nothing from each other, so the agents of all runs rest at once. */
const restOf = ({ restSeconds = limits.restSeconds }: Pick<Setting, 'restSeconds'>): number =>
  restSeconds;

async function readAtRest({ runs, progress, ...setting }: Setting): Promise<readonly Read[]> {
  const folder = temporaryFolder();
  try {
    const agents: { readonly agent: RunningAgent; readonly supervisor: number }[] = [];
    for (let run = 1; run <= runs; run++) {
      agents.push(await startOne(join(folder.path, String(run))));
    }
    const restSeconds = restOf(setting);
    progress(`rest of ${restSeconds} s`);
    await new Promise((resolve) => setTimeout(resolve, restSeconds * 1000));
    const found = agents.map(({ agent, supervisor }) => ({
      agent: held(agent.pid),
      supervisor: held(supervisor),
    }));
    for (const { agent } of agents) await agent.stop();
    return found;
  } finally {
    await folder.remove();
  }
}

async function startOne(folder: string) {
  const command = await installBundle(folder);
  copyNode(command);
  // The first start compiles the program for the next one.
  await (await startAgent({ command, dataDirectory: join(folder, 'first') })).stop();
  const dataDirectory = join(folder, 'data');
  const agent = await startAgent({ command, dataDirectory });
  return { agent, supervisor: await withJob(agent, dataDirectory) };
}

/** Resolves with the supervisor once a job runs. */
async function withJob({ target, pid }: RunningAgent, dataDirectory: string): Promise<number> {
  await readyNode(target);
  const supervisor = supervisorOf(dataDirectory, pid);
  await call(target, 'POST', '/v1/jobs', smallJob('bench-rest', { count: 1 }));
  await running(target, 'bench-rest', 1);
  return supervisor;
}

const held = (pid: number): Held => ({
  pss: sharedOutBytes(pid),
  own: privateBytes(pid),
  rss: residentBytes(pid),
});
