import { fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningAgent, startAgent, temporaryFolder } from './agent.ts';
import { type Benchmark, type Figure, type Setting, until } from './benchmark.ts';
import type { FleetPart } from './fleet-nodes.ts';
import { jobPath, paperDatacenter, paperDescription, settled, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { mainThreadMs, mainThreadWaitMs, quiet, residentBytes } from './processes.ts';
import { call, gauges, type Target } from './target.ts';

const { nodes, processes, serviceEveryMs, settleMs, restMs, lookAgainMs } = limits.fleet;

interface Run {
  readonly restPercent: number;
  readonly bytesEach: number;
  readonly backMs: number;
  readonly startMs: number;
  /** Processor time of the main thread from the start until all are back. */
  readonly usedMs: number;
  /** How long it waited for a processor. */
  readonly waitedMs: number;
  readonly busiestPercent: number;
  readonly longestWaitMs: number;
  readonly missed: number;
}

export const fleet: Benchmark = {
  name: 'fleet',
  title: `${nodes.toLocaleString('en')} nodes over HTTP`,
  baseline: 'there is none',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    const runs: Run[] = [];
    for (let run = 1; run <= setting.runs; run++) {
      setting.progress(`run ${run} of ${setting.runs}`);
      runs.push(await once(setting));
    }
    const figure = (
      name: string,
      unit: string,
      of: (run: Run) => number,
      most?: number,
    ): Figure => ({
      name,
      unit,
      ours: runs.map(of),
      ...(most !== undefined && { target: { of: 'median', is: 'at most', value: most } }),
    });
    return {
      figures: [
        figure('the main thread at rest', '% of a core', (run) => run.restPercent, 25),
        figure('resident memory for each node', 'KB', (run) => run.bytesEach / 1024, 200),
        figure('killed: until all nodes are back', 's', (run) => run.backMs / 1000, 30),
        figure('of it, the start of the server', 's', (run) => run.startMs / 1000),
        figure('processor time of its main thread until then', 's', (run) => run.usedMs / 1000),
        figure('its wait for a core until then', 's', (run) => run.waitedMs / 1000),
        figure('nodes that were missed meanwhile', '', (run) => run.missed, 0),
        figure(
          'the main thread in the busiest second of it',
          '% of a core',
          (run) => run.busiestPercent,
        ),
        figure('the longest wait of a small request meanwhile', 'ms', (run) => run.longestWaitMs),
      ],
      notes: [
        `Each node has the loops and reports of a real node, its stream, a parked query for its assignments, heartbeats and ` +
          `an allocation with a service whose status changes every ${serviceEveryMs / 1000} s in the mean. ${processes} processes play ` +
          'the nodes, with plain sockets in place of the HTTP client. Memory is the growth of the resident set from before the ' +
          `first node. Rest lasts ${restMs / 1000} s.`,
        'The server is killed and started on its data and its port. The nodes are back when all hold their streams and wait ' +
          'for assignments again. The time counts from the kill, and includes the start of the server. While they come back, ' +
          'the longest wait is that of a request for metrics.',
      ],
    };
  },
};

async function once(setting: Setting): Promise<Run> {
  const folder = temporaryFolder();
  const dataDirectory = join(folder.path, 'data');
  try {
    const agent = await startAgent({ dataDirectory });
    const { target, pid } = agent;
    const description = await paperDescription(target, 1);
    await quiet(pid);
    const before = residentBytes(pid);
    setting.progress(`${nodes} nodes join`);
    const leave = play({ target, description, folder: join(folder.path, 'nodes') });
    try {
      await connected(target);
      await placeEverywhere(target);
      await sleep(settleMs);
      const restPercent = await busyPercent(pid, restMs);
      const bytesEach = (residentBytes(pid) - before) / nodes;
      setting.progress('restart');
      return { restPercent, bytesEach, ...(await restart(agent, dataDirectory)) };
    } finally {
      leave();
    }
  } finally {
    await folder.remove();
  }
}

async function restart(agent: RunningAgent, dataDirectory: string) {
  const { token, port } = agent.target;
  const before = await versions(agent.target);
  const killedMs = performance.now();
  await agent.kill();
  const again = await startAgent({ dataDirectory, token, port });
  const startMs = performance.now() - killedMs;
  const busy = watchBusy(again);
  const longestWaitMs = await connected(again.target);
  const [usedMs, waitedMs] = [mainThreadMs(again.pid), mainThreadWaitMs(again.pid)];
  const backMs = performance.now() - killedMs;
  const busiestPercent = busy.end();
  const after = await versions(again.target);
  const missed = [...before].filter(([id, version]) => after.get(id) !== version).length;
  await again.kill();
  return { startMs, backMs, usedMs, waitedMs, busiestPercent, longestWaitMs, missed };
}

/** Starts the processes of the nodes. Returns the function that ends them. */
function play(all: Omit<FleetPart, 'names'>): () => void {
  const program = fileURLToPath(new URL('./fleet-nodes.ts', import.meta.url));
  const names = Array.from({ length: nodes }, (_, number) => `fleet-${number}`);
  const size = Math.ceil(nodes / processes);
  const children = Array.from({ length: processes }, (_, at) => {
    const part: FleetPart = { ...all, names: names.slice(at * size, (at + 1) * size) };
    return fork(program, [JSON.stringify(part)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
  });
  return () => {
    for (const child of children) child.kill('SIGKILL');
  };
}

/** Resolves when all nodes hold their streams and wait for work, with the longest wait for the gauges that tell it. */
function connected(target: Target): Promise<number> {
  let longestMs = 0;
  const look = async () => {
    const sentMs = performance.now();
    const { nodes_connected: streams, blocking_queries: parked } = await gauges(target);
    longestMs = Math.max(longestMs, performance.now() - sentMs);
    // The agent's own node counts as well.
    return streams! > nodes && parked! > nodes ? longestMs : undefined;
  };
  return until('that all nodes are connected', look, lookAgainMs);
}

/** Resolves when an allocation runs on every node. */
async function placeEverywhere(target: Target): Promise<void> {
  const { Job } = smallJob('everywhere', { count: 1, datacenter: paperDatacenter });
  await call(target, 'POST', '/v1/jobs', { Job: { ...Job, Type: 'system' } });
  await settled(target, 'everywhere');
  type Summary = { readonly Summary: Readonly<Record<string, { readonly Running: number }>> };
  await until(
    'that all allocations run',
    async () => {
      const { value } = await call<Summary>(target, 'GET', `${jobPath('everywhere')}/summary`);
      return value.Summary.group?.Running === nodes ? true : undefined;
    },
    lookAgainMs,
  );
}

async function busyPercent(pid: number, durationMs: number): Promise<number> {
  const [startMs, before] = [performance.now(), mainThreadMs(pid)];
  await sleep(durationMs);
  return ((mainThreadMs(pid) - before) / (performance.now() - startMs)) * 100;
}

/** Looks for the busiest second of the main thread. */
function watchBusy({ pid }: RunningAgent) {
  let [lastMs, last, most] = [performance.now(), mainThreadMs(pid), 0];
  const look = () => {
    const [nowMs, now] = [performance.now(), mainThreadMs(pid)];
    most = Math.max(most, ((now - last) / (nowMs - lastMs)) * 100);
    [lastMs, last] = [nowMs, now];
  };
  const timer = setInterval(look, 1000);
  return {
    end() {
      clearInterval(timer);
      return most;
    },
  };
}

/** The version of each node, which changes when its status does. */
async function versions(target: Target): Promise<ReadonlyMap<string, number>> {
  type Nodes = readonly {
    readonly ID: string;
    readonly Name: string;
    readonly ModifyIndex: number;
  }[];
  const { value } = await call<Nodes>(target, 'GET', '/v1/nodes');
  const played = value.filter(({ Name }) => Name.startsWith('fleet-'));
  return new Map(played.map(({ ID, ModifyIndex }) => [ID, ModifyIndex]));
}

const sleep = (durationMs: number) => new Promise((resolve) => setTimeout(resolve, durationMs));
