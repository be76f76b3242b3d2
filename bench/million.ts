import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningAgent, startAgent, temporaryFolder } from './agent.ts';
import type { Benchmark, Figure, Setting } from './benchmark.ts';
import { drained, joinPaperFleet, type PaperFleet, paperDatacenter, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { requestBytes, sendAll } from './load.ts';
import { quiet, residentBytes } from './processes.ts';
import type { StoreCosts } from './store-worker.ts';
import { ask, gauges, type Target } from './target.ts';

const { nodes, jobs, count, heapMb, youngMb } = limits.million;
/** The number of allocations. */
export const wanted = jobs * count;
const gigabyte = 1024 ** 3;

interface Point {
  readonly placed: number;
  readonly seconds: number;
  readonly residentGb: number;
}

interface Run {
  readonly placedMs: number;
  /** Of the agent with its nodes at rest, before the first job, and with all allocations after a restart. */
  readonly emptyBytes: number;
  readonly filledBytes: number;
  readonly curve: readonly Point[];
  readonly peakGb: number;
  /** Of what is stored after the placing, and after the reports. */
  readonly store: StoreCosts;
  readonly reportedStore: StoreCosts;
  readonly reportedMs: number;
  readonly restartMs: number;
  readonly reportedRestartMs: number;
}

export const million: Benchmark = {
  name: 'million',
  title: `${wanted.toLocaleString('en')} allocations on ${nodes.toLocaleString('en')} nodes`,
  baseline:
    'of placing, bare `node:sqlite` that appends the same rows; of a restart, reading and decoding them; of the ' +
    'reports, placing',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    // One run takes minutes and gigabytes.
    const run = await once(setting);
    return {
      figures: [
        {
          name: 'registered over HTTP, evaluated, placed and durable',
          unit: 's',
          ours: [run.placedMs / 1000],
          baseline: [run.store.appendedMs / 1000],
          target: { of: 'ratio', is: 'at most', value: 4 },
        },
        {
          name: 'the greatest resident set until then',
          unit: 'GB',
          ours: [run.peakGb],
          target: { of: 'median', is: 'at most', value: 2 },
        },
        each('in the store, for each allocation', [run.store.bytes]),
        each('in memory, for each allocation, after a restart', [run.filledBytes - run.emptyBytes]),
        {
          name: 'restart after a kill, to ready',
          unit: 's',
          ours: [run.restartMs / 1000],
          baseline: [run.store.decodedMs / 1000],
          target: { of: 'ratio', is: 'at most', value: 2 },
        },
        {
          name: 'then reported as running by the nodes',
          unit: 's',
          ours: [run.reportedMs / 1000],
          baseline: [run.placedMs / 1000],
          target: { of: 'ratio', is: 'at most', value: 1 },
        },
        {
          name: 'restart after that',
          unit: 's',
          ours: [run.reportedRestartMs / 1000],
          baseline: [run.reportedStore.decodedMs / 1000],
          target: { of: 'ratio', is: 'at most', value: 2 },
        },
        each('in the store then, for each allocation', [run.reportedStore.bytes]),
      ],
      notes: [
        `${jobs} jobs of ${count} instances, registered over HTTP; the agent has a heap of ` +
          `${heapMb} MB, ${youngMb} MB of it for young objects. The nodes exist on paper alone, and tell of their allocations in a request each.`,
        `The store then has ${megabytes(run.store)} MB, and ${megabytes(run.reportedStore)} MB after the reports: a snapshot, ` +
          'and the log after it. Memory is the resident memory at rest, without that before the first job.',
        `The curve: ${run.curve.map(tell).join('; ')}.`,
      ],
    };
  },
};

const each = (name: string, bytes: readonly number[]): Figure => ({
  name,
  unit: 'bytes',
  ours: bytes.map((all) => all / wanted),
});

const megabytes = ({ bytes }: StoreCosts): string => (bytes / 1024 ** 2).toFixed(0);

const tell = ({ placed, seconds, residentGb }: Point): string =>
  `${placed.toLocaleString('en')} after ${seconds.toFixed(1)} s with ${residentGb.toFixed(2)} GB`;

async function once(setting: Setting): Promise<Run> {
  const folder = temporaryFolder();
  const dataDirectory = join(folder.path, 'data');
  try {
    const agent = await start(dataDirectory);
    setting.progress(`${nodes} nodes join`);
    const fleet = await joinFleet(agent.target);
    const emptyBytes = await restingBytes(agent.pid);
    const placed = await placeWatched(setting, agent);
    await agent.kill();
    const store = await storeCosts(dataDirectory);
    setting.progress('restart');
    const again = await restarted(dataDirectory, agent.target.token);
    const filledBytes = await restingBytes(again.pid);
    setting.progress('the nodes report');
    const reportedMs = await report(again.target, fleet);
    fleet.leave();
    await again.kill();
    const reportedStore = await storeCosts(dataDirectory);
    setting.progress('restart after the reports');
    const last = await restarted(dataDirectory, agent.target.token);
    await last.kill();
    const [restartMs, reportedRestartMs] = [again.readyMs, last.readyMs];
    const memory = { emptyBytes, filledBytes };
    return { ...placed, ...memory, store, reportedStore, reportedMs, restartMs, reportedRestartMs };
  } finally {
    await folder.remove();
  }
}

/** Of a process that does not come to rest in time, the memory counts as it is. */
async function restingBytes(pid: number): Promise<number> {
  await quiet(pid).catch(() => {});
  return residentBytes(pid);
}

async function storeCosts(dataDirectory: string): Promise<StoreCosts> {
  const program = fileURLToPath(new URL('./store-worker.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', program, join(dataDirectory, 'server')];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as StoreCosts;
}

/** Nodes on paper with room for all allocations. */
export const joinFleet = (target: Target): Promise<PaperFleet> =>
  joinPaperFleet(target, { nodes, jobsEach: Math.ceil((wanted / nodes) * 1.1) });

async function restarted(dataDirectory: string, token: string): Promise<RunningAgent> {
  const agent = await start(dataDirectory, token);
  const { allocations } = await gauges(agent.target);
  if (allocations !== wanted) throw new Error(`${allocations} of ${wanted} came back`);
  return agent;
}

const start = (dataDirectory: string, token?: string): Promise<RunningAgent> =>
  startAgent({
    dataDirectory,
    ...(token !== undefined && { token }),
    environment: roomyHeap,
  });

/** The environment of an agent with room for a million allocations. */
export const roomyHeap = {
  NODE_OPTIONS: `--max-old-space-size=${heapMb} --max-semi-space-size=${youngMb}`,
};

/** Registers all jobs, and draws the curve meanwhile. Resolves when every allocation is placed and durable. */
async function placeWatched(setting: Setting, agent: RunningAgent) {
  const { target, pid } = agent;
  const curve: Point[] = [];
  const startMs = performance.now();
  const seconds = () => (performance.now() - startMs) / 1000;
  let isOver = false;
  const watch = async () => {
    for (let next = wanted / 10; !isOver; ) {
      const { allocations = 0 } = await gauges(target);
      if (allocations >= next) {
        const point = { placed: allocations, seconds: seconds(), residentGb: resident(pid).now };
        curve.push(point);
        setting.progress(tell(point));
        next = (Math.floor(allocations / (wanted / 10)) + 1) * (wanted / 10);
      }
      await new Promise((resolve) => setTimeout(resolve, limits.million.lookAgainMs));
    }
  };
  const watched = watch();
  const placedMs = await placeAll(agent);
  isOver = true;
  await watched;
  return { placedMs, curve, peakGb: resident(pid).peak };
}

/** Registers all jobs. Resolves with the time when every allocation is placed and durable. */
export async function placeAll({ target }: RunningAgent): Promise<number> {
  const startMs = performance.now();
  await sendAll(target, jobs, (number) => {
    const job = smallJob(`million-${number}`, { count, datacenter: paperDatacenter });
    return requestBytes(target, 'POST', '/v1/jobs', JSON.stringify(job));
  });
  await drained(target, limits.million.lookAgainMs);
  const placedMs = performance.now() - startMs;
  const { allocations } = await gauges(target);
  if (allocations !== wanted) throw new Error(`${allocations} of ${wanted} were placed`);
  return placedMs;
}

/** Each node reports in a single request that all its allocations run. */
export async function report(target: Target, { members }: PaperFleet): Promise<number> {
  const given = await allocationsByNode(target);
  const startMs = performance.now();
  const left = [...members];
  const worker = async () => {
    for (let member = left.pop(); member !== undefined; member = left.pop()) {
      const of = { ...target, token: member.secret };
      const ids = given.get(member.id) ?? [];
      const Allocations = ids.map((ID) => ({ ID, ClientStatus: 'running' }));
      const { status } = await ask(of, 'PUT', `/v1/node/${member.id}/status`, { Allocations });
      if (status !== 200) throw new Error(`a node's report was answered with ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  await drained(target, limits.million.lookAgainMs);
  return performance.now() - startMs;
}

/** The ids of all allocations, page by page. A real node would receive its own ones as they are placed. */
async function allocationsByNode(target: Target): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  let next = '';
  do {
    const page = `per_page=${limits.million.perPage}&next_token=${encodeURIComponent(next)}`;
    const { status, headers, body } = await ask(
      target,
      'GET',
      `/v1/allocations?task_states=false&${page}`,
    );
    if (status !== 200) throw new Error(`the list of allocations was answered with ${status}`);
    const rows: readonly { ID: string; NodeID: string }[] = JSON.parse(body.toString());
    for (const { ID, NodeID } of rows) {
      const ids = found.get(NodeID);
      if (ids === undefined) found.set(NodeID, [ID]);
      else ids.push(ID);
    }
    next = String(headers['x-scheduler-nexttoken'] ?? '');
  } while (next !== '');
  return found;
}

/** Resident memory in gigabytes, as reported by Linux. */
function resident(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const read = (name: string): number =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024) / gigabyte;
  return { now: read('VmRSS'), peak: read('VmHWM') };
}
