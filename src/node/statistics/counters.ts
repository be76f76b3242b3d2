import type { CheckResult } from '../../model/check-result/check-result.ts';
import type {
  CheckCounters,
  MachineCounters,
  NodeCounters,
  TaskCounters,
} from '../../model/node/node-counters.ts';
import type { UsageSource } from './allocation-statistics.ts';
import { readCores, readDisk, readMemory, readUptimeSeconds } from './machine.ts';

/** The results of an allocation's checks, by their ids; `undefined`: it does not run here. */
export type ChecksOf = (allocId: string) => Readonly<Record<string, CheckResult>> | undefined;

/** Not in limits: the unit of `/proc/stat`, on all supported systems. */
const millisecondsPerTick = 10;

/** The counters of this machine and of these allocations. Unlike rates they need no wait. */
export async function countersOf(
  dataDirectory: string,
  allocations: readonly UsageSource[],
  checksOf: ChecksOf,
): Promise<NodeCounters> {
  const Tasks: TaskCounters[] = [];
  // One after the other, so that many of them do not hold up the supervisor.
  for (const source of allocations) Tasks.push(...(await tasksOf(source)));
  const Checks = allocations.flatMap(({ id }) => checkCounters(id, checksOf(id)));
  return { Machine: await machineCounters(dataDirectory), Tasks, Checks };
}

function checkCounters(AllocID: string, results: ReturnType<ChecksOf>): readonly CheckCounters[] {
  const found = new Map<string, CheckCounters>();
  for (const { Service, Status } of Object.values(results ?? {})) {
    const none = { AllocID, Service, pending: 0, passing: 0, warning: 0, critical: 0 };
    const known = found.get(Service) ?? none;
    found.set(Service, { ...known, [Status]: known[Status] + 1 });
  }
  return [...found.values()];
}

async function tasksOf(source: UsageSource): Promise<readonly TaskCounters[]> {
  const all = await Promise.all(
    source.taskNames().map(async (Task) => {
      // A driver that is away must not cost the figures of the machine and of other tasks.
      const usage = await source.usage(Task).catch(() => undefined);
      if (usage === undefined) return [];
      const { cpuUserMs, cpuSystemMs, memoryRssBytes: MemoryBytes } = usage;
      return [{ AllocID: source.id, Task, CpuMs: cpuUserMs + cpuSystemMs, MemoryBytes }];
    }),
  );
  return all.flat();
}

async function machineCounters(dataDirectory: string): Promise<MachineCounters> {
  const [cores, memory, disk, UptimeSeconds] = await Promise.all([
    readCores(),
    readMemory(),
    readDisk(dataDirectory),
    readUptimeSeconds(),
  ]);
  const ticks = cores.reduce((sum, { user, system }) => sum + user + system, 0);
  return {
    CpuMs: ticks * millisecondsPerTick,
    Cores: cores.length,
    MemoryBytes: memory.Total,
    MemoryUsedBytes: memory.Used,
    DiskBytes: disk.Size,
    DiskUsedBytes: disk.Size - disk.Available,
    UptimeSeconds,
  };
}
