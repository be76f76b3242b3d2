import { readFile } from 'node:fs/promises';
import type { DriverUsage } from '../driver.ts';
import { type Runtime, statusOf } from './runtime.ts';

const nanosecondsPerMillisecond = 1e6;

/** The used parts of a runtime's statistics; some runtimes omit parts. */
interface Statistics {
  readonly cpu_stats?: {
    readonly cpu_usage?: {
      readonly usage_in_usermode?: number;
      readonly usage_in_kernelmode?: number;
    };
    readonly throttling_data?: {
      readonly throttled_periods?: number;
      readonly throttled_time?: number;
    };
  };
  readonly memory_stats?: {
    readonly usage?: number;
    readonly max_usage?: number;
    readonly stats?: Readonly<Record<string, number>>;
  };
}

/** `undefined` once the container has ended. */
export async function containerUsage(
  runtime: Runtime,
  containerId: string,
): Promise<DriverUsage | undefined> {
  try {
    return await runtime.call(async (client) => {
      const container = client.getContainer(containerId);
      const { State } = await container.inspect();
      if (!State.Running) return undefined;
      const statistics = (await container.stats({ stream: false, 'one-shot': true })) as Statistics;
      return usageOf(statistics, await processesOf(State.Pid));
    });
  } catch (error) {
    if (statusOf(error) === 404 || statusOf(error) === 409) return undefined;
    throw error;
  }
}

export function usageOf(statistics: Statistics, pids: readonly number[]): DriverUsage {
  const { cpu_stats: cpu, memory_stats: memory } = statistics;
  const stats = memory?.stats ?? {};
  const cacheBytes = stats.cache ?? stats.file;
  const periods = cpu?.throttling_data?.throttled_periods;
  const throttled = cpu?.throttling_data?.throttled_time;
  return {
    cpuUserMs: (cpu?.cpu_usage?.usage_in_usermode ?? 0) / nanosecondsPerMillisecond,
    cpuSystemMs: (cpu?.cpu_usage?.usage_in_kernelmode ?? 0) / nanosecondsPerMillisecond,
    memoryRssBytes: stats.rss ?? stats.anon ?? memory?.usage ?? 0,
    ...(cacheBytes !== undefined && { memoryCacheBytes: cacheBytes }),
    ...(memory?.max_usage !== undefined && { memoryMaxUsageBytes: memory.max_usage }),
    ...(periods !== undefined && { throttledPeriods: periods }),
    ...(throttled !== undefined && { throttledMs: throttled / nanosecondsPerMillisecond }),
    pids,
  };
}

/** The processes in the control group of the container's first process, if the machine shows it. */
async function processesOf(firstPid: number): Promise<readonly number[]> {
  if (firstPid <= 0) return [];
  for (const path of await cgroupsOf(firstPid)) {
    const text = await readFile(`${path}/cgroup.procs`, 'utf8').catch(() => '');
    const pids = text.split('\n').filter(Boolean).map(Number);
    if (pids.includes(firstPid)) return pids;
  }
  return [firstPid];
}

async function cgroupsOf(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [, controllers = '', path = '/'] = line.split(':');
    if (path === '/') return [];
    if (controllers === '') return [`/sys/fs/cgroup${path}`];
    return controllers === 'pids' || controllers === 'memory'
      ? [`/sys/fs/cgroup/${controllers}${path}`]
      : [];
  });
}
