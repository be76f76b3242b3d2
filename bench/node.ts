import { join } from 'node:path';
import { installBundle, type RunningAgent, startAgent, temporaryFolder } from './agent.ts';
import { type Benchmark, type Figure, type Setting, until } from './benchmark.ts';
import { jobPath, readyNode, running, tinyJob } from './jobs.ts';
import { limits } from './limits.ts';
import {
  isAlive,
  processesNaming,
  quiet,
  residentBytes,
  supervisorOf,
  usedMs,
} from './processes.ts';
import { ask, call, type Target } from './target.ts';

const { tasks, idleMs, judgedPauseMs } = limits.nodeTasks;

const sleep = (durationMs: number) => new Promise((resolve) => setTimeout(resolve, durationMs));

export const node: Benchmark = {
  name: 'node',
  title: `${tasks} \`raw_exec\` tasks on one node`,
  baseline: 'there is none',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    const lives: Life[] = [];
    for (let run = 1; run <= setting.runs; run++) lives.push(await live(setting, run));
    const figure = (
      name: string,
      unit: string,
      of: (life: Life) => number,
      most?: number,
    ): Figure => ({
      name,
      unit,
      ours: lives.map(of),
      ...(most !== undefined && { target: { of: 'median', is: 'at most', value: most } }),
    });
    return {
      figures: [
        figure('POST of the job to all running', 'ms', ({ startMs }) => startMs, 10_000),
        figure('processor time for that: agent', 'ms', ({ startUsedMs }) => startUsedMs),
        figure('processor time for that: supervisor', 'ms', ({ supervisorMs }) => supervisorMs),
        figure('idle: agent', '% of a core', ({ idlePercent }) => idlePercent, 2),
        figure('idle: supervisor', '% of a core', ({ supervisorPercent }) => supervisorPercent),
        figure('memory a task: agent', 'KB', ({ taskKilobytes }) => taskKilobytes, 100),
        figure('memory a task: supervisor', 'KB', ({ supervisorKilobytes }) => supervisorKilobytes),
        figure(
          'restart of the agent to the last task found',
          'ms',
          ({ foundMs }) => foundMs,
          2_000,
        ),
        figure('processor time for that: agent', 'ms', ({ foundUsedMs }) => foundUsedMs),
      ],
      notes: [
        'The bundle of `npm run build`. The agent is server and node in one; its memory and time are ' +
          'those of both. Each task is one allocation that runs `/bin/sleep`. Memory is what the ' +
          'resident set grew by, both times at rest: the second time once every allocation has been ' +
          `found healthy, which is ten seconds after it runs. Idle is then measured over ${idleMs / 1000} s.`,
        'The agent is killed and started again on its data directory; time runs from `exec` until it ' +
          'has answered for the files of every allocation over the connection of its node. All ' +
          'processes are then those of before.',
      ],
    };
  },
};

interface Life {
  readonly startMs: number;
  readonly startUsedMs: number;
  readonly supervisorMs: number;
  readonly idlePercent: number;
  readonly supervisorPercent: number;
  readonly taskKilobytes: number;
  readonly supervisorKilobytes: number;
  readonly foundMs: number;
  readonly foundUsedMs: number;
}

async function live({ progress }: Setting, run: number): Promise<Life> {
  const folder = temporaryFolder();
  const dataDirectory = join(folder.path, 'data');
  try {
    const command = await installBundle(folder.path);
    // The first start compiles the program for the starts after it.
    await (await startAgent({ command, dataDirectory: join(folder.path, 'first') })).stop();
    const agent = await startAgent({ command, dataDirectory });
    await readyNode(agent.target);
    await quiet(agent.pid);
    const supervisor = supervisorOf(dataDirectory, agent.pid);
    const bytes = [residentBytes(agent.pid), residentBytes(supervisor)] as const;
    progress(`run ${run}: starting ${tasks} tasks`);
    const used = [usedMs(agent.pid), usedMs(supervisor)] as const;
    const startMs = await timed(() => startTasks(agent.target));
    const startUsedMs = usedMs(agent.pid) - used[0];
    const supervisorMs = usedMs(supervisor) - used[1];
    await untilJudged(agent.target);
    await quiet(agent.pid);
    progress(`run ${run}: idle`);
    const kilobytes = (pid: number, before: number) => (residentBytes(pid) - before) / 1024 / tasks;
    const taskKilobytes = kilobytes(agent.pid, bytes[0]);
    const supervisorKilobytes = kilobytes(supervisor, bytes[1]);
    const [idlePercent, supervisorPercent] = await idleOf(agent.pid, supervisor);
    const before = sleepers(dataDirectory);
    progress(`run ${run}: restart`);
    await agent.kill();
    let next: RunningAgent | undefined;
    const foundMs = await timed(async () => {
      const { token } = agent.target;
      next = await startAgent({ command, dataDirectory, token });
      await findAll(next.target);
    });
    const foundUsedMs = usedMs(next!.pid);
    const after = sleepers(dataDirectory);
    if (after.join() !== before.join()) throw new Error('the tasks are not those of before');
    await next!.stop();
    return {
      startMs,
      startUsedMs,
      supervisorMs,
      idlePercent,
      supervisorPercent,
      taskKilobytes,
      supervisorKilobytes,
      foundMs,
      foundUsedMs,
    };
  } finally {
    await folder.remove();
  }
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}

const id = 'many';

async function startTasks(target: Target): Promise<void> {
  await call(target, 'POST', '/v1/jobs', tinyJob(id, tasks));
  await running(target, id, tasks);
}

/** Polls seldom and with small requests, since polling makes work and garbage in the measured process. */
async function untilJudged(target: Target): Promise<void> {
  const unjudged = encodeURIComponent('DeploymentStatus.Healthy != true');
  await until(`that all of ${tasks} allocations are healthy`, async () => {
    await sleep(judgedPauseMs);
    const { value } = await allocations(target, `?task_states=false&filter=${unjudged}`);
    return value.length === 0 ? true : undefined;
  });
}

interface Stub {
  readonly ID: string;
}

const allocations = (target: Target, query = '') =>
  call<readonly Stub[]>(target, 'GET', `${jobPath(id)}/allocations${query}`);

async function idleOf(...pids: readonly number[]): Promise<readonly [number, number]> {
  const before = pids.map(usedMs);
  await sleep(idleMs);
  const [agent = 0, supervisor = 0] = pids.map((pid, at) => usedMs(pid) - before[at]!);
  return [(agent / idleMs) * 100, (supervisor / idleMs) * 100];
}

/** Resolves when the node has taken over all allocations, so that each answers for its files. */
async function findAll(target: Target): Promise<void> {
  const { value } = await allocations(target);
  const isThere = async ({ ID }: Stub) =>
    (await ask(target, 'GET', `/v1/client/fs/stat/${ID}?path=/`)).status === 200;
  await until('that the node is back', async () => ((await isThere(value[0]!)) ? true : undefined));
  const there = await Promise.all(value.map(isThere));
  if (there.includes(false)) throw new Error('the node has lost an allocation');
}

const sleepers = (directory: string): readonly number[] =>
  processesNaming(`ROSTER_TASK_DIR=${directory}`).filter(isAlive);
