/** Rates from counters that were read twice. Pure. */
import type { ResourceUsage, TaskUsage } from '../../model/allocation/resource-usage.ts';
import { limits } from '../../model/limits.ts';
import type { DriverUsage } from '../drivers/driver.ts';
import type { ProcessUsage } from './process-usage.ts';

/** Counters of a task and of its processes at one moment. */
export interface TaskSample {
  /** By the monotonic clock. */
  readonly atMs: number;
  readonly usage: DriverUsage;
  readonly processes: ReadonlyMap<number, ProcessUsage>;
}

interface CpuCounters {
  readonly cpuUserMs: number;
  readonly cpuSystemMs: number;
}

/** In percent of a core; 0 when the counters have begun anew. */
function percents(before: CpuCounters | undefined, after: CpuCounters, passedMs: number) {
  const percent = (of: (counters: CpuCounters) => number): number =>
    before === undefined || passedMs <= 0
      ? 0
      : (Math.max(0, of(after) - of(before)) / passedMs) * 100;
  const user = percent(({ cpuUserMs }) => cpuUserMs);
  const system = percent(({ cpuSystemMs }) => cpuSystemMs);
  return { UserMode: user, SystemMode: system, Percent: user + system };
}

export function taskUsage(
  before: TaskSample,
  after: TaskSample,
  coreMhz: number,
  timestamp: number,
): TaskUsage {
  const { usage } = after;
  const passedMs = after.atMs - before.atMs;
  const percent = percents(before.usage, usage, passedMs);
  const isThrottled = usage.throttledPeriods !== undefined;
  const swap = [...after.processes.values()].reduce((sum, one) => sum + one.swapBytes, 0);
  return {
    ResourceUsage: {
      CpuStats: {
        ...percent,
        TotalTicks: (percent.Percent / 100) * coreMhz,
        ThrottledPeriods: usage.throttledPeriods ?? 0,
        ThrottledTime: (usage.throttledMs ?? 0) * 1e6,
        Measured: [...cpuMeasured, ...(isThrottled ? ['Throttled Periods', 'Throttled Time'] : [])],
      },
      MemoryStats: {
        RSS: usage.memoryRssBytes,
        Cache: usage.memoryCacheBytes ?? 0,
        Swap: swap,
        Usage: usage.memoryRssBytes + (usage.memoryCacheBytes ?? 0),
        MaxUsage: usage.memoryMaxUsageBytes ?? 0,
        KernelUsage: 0,
        KernelMaxUsage: 0,
        Measured: [
          ...memoryMeasured,
          ...(usage.memoryCacheBytes === undefined ? [] : ['Cache']),
          ...(usage.memoryMaxUsageBytes === undefined ? [] : ['Max Usage']),
        ],
      },
      DeviceStats: [],
    },
    Timestamp: timestamp,
    Pids: Object.fromEntries(
      [...after.processes].map(([pid, process]) => {
        const rates = percents(before.processes.get(pid), process, passedMs);
        return [pid, processUsageOf(process, rates, coreMhz)];
      }),
    ),
  };
}

const cpuMeasured = ['System Mode', 'User Mode', 'Percent', 'Total Ticks'] as const;
const memoryMeasured = ['RSS', 'Swap', 'Usage'] as const;

const processUsageOf = (
  { rssBytes, swapBytes }: ProcessUsage,
  rates: ReturnType<typeof percents>,
  coreMhz: number,
): ResourceUsage => ({
  CpuStats: {
    ...rates,
    TotalTicks: (rates.Percent / 100) * coreMhz,
    ThrottledPeriods: 0,
    ThrottledTime: 0,
    Measured: cpuMeasured,
  },
  MemoryStats: {
    ...noMemory,
    RSS: rssBytes,
    Swap: swapBytes,
    Usage: rssBytes,
    Measured: memoryMeasured,
  },
  DeviceStats: [],
});

const noMemory = {
  RSS: 0,
  Cache: 0,
  Swap: 0,
  Usage: 0,
  MaxUsage: 0,
  KernelUsage: 0,
  KernelMaxUsage: 0,
} as const;

/** The sum over all tasks. */
export function sumOf(usages: readonly ResourceUsage[]): ResourceUsage {
  const sum = <T>(list: readonly T[], names: readonly (keyof T)[]) =>
    Object.fromEntries(
      names.map((name) => [name, list.reduce((total, one) => total + Number(one[name]), 0)]),
    );
  const cpu = usages.map(({ CpuStats }) => CpuStats);
  const memory = usages.map(({ MemoryStats }) => MemoryStats);
  const measured = (lists: readonly { readonly Measured: readonly string[] }[]) => [
    ...new Set(lists.flatMap(({ Measured }) => Measured)),
  ];
  return {
    CpuStats: {
      ...sum(cpu, ['Percent', 'UserMode', 'SystemMode', 'TotalTicks']),
      ...sum(cpu, ['ThrottledPeriods', 'ThrottledTime']),
      Measured: measured(cpu),
    },
    MemoryStats: {
      ...sum(memory, Object.keys(noMemory) as (keyof typeof noMemory)[]),
      Measured: measured(memory),
    },
    DeviceStats: [],
  } as unknown as ResourceUsage;
}

/** Whether the sample is new enough for rates. */
export const isFresh = (sample: TaskSample | undefined, nowMs: number): sample is TaskSample =>
  sample !== undefined &&
  nowMs - sample.atMs >= limits.statistics.sampleMs &&
  nowMs - sample.atMs <= limits.statistics.sampleAgeMaxMs;
