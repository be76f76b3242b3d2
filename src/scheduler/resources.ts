/** What a group asks for, what an allocation holds and what a node has. Source: facts §5.2, §6.5. */
import type {
  AllocatedNetwork,
  AllocatedResources,
  AllocatedTaskResources,
} from '../model/allocation/allocated-resources.ts';
import type { Node } from '../model/node/node.ts';
import type { Task } from '../model/task/task.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { type DeviceAsk, deviceAsks } from './devices.ts';
import { type AssignedNetwork, type NetworkAsk, networkAsks } from './ports.ts';

/** CPU in MHz, memory and disk in MB, cores by number. */
export interface Need {
  readonly cpu: number;
  readonly memory: number;
  readonly disk: number;
  readonly cores: number;
}

export interface Ask {
  readonly group: TaskGroup;
  readonly networks: readonly NetworkAsk[];
  readonly devices: readonly DeviceAsk[];
  /** Cores over all tasks. */
  readonly cores: number;
  /** As if no task asked for cores, ports or devices; shared by all allocations where that is so. */
  readonly template: AllocatedResources;
}

export function askOf(group: TaskGroup): Ask {
  return {
    group,
    networks: networkAsks(group),
    devices: deviceAsks(group),
    cores: group.Tasks.reduce((total, task) => total + task.Resources.Cores, 0),
    template: {
      Tasks: Object.fromEntries(
        group.Tasks.map((task) => [task.Name, taskResources(task, task.Resources.CPU, null)]),
      ),
      TaskLifecycles: lifecyclesOf(group),
      Shared: { DiskMB: group.EphemeralDisk.SizeMB, Networks: null, Ports: null },
    },
  };
}

export const lifecyclesOf = (group: TaskGroup): AllocatedResources['TaskLifecycles'] =>
  Object.fromEntries(
    group.Tasks.map(({ Name, Lifecycle }) => [
      Name,
      Lifecycle === null ? null : { Hook: Lifecycle.Hook, Sidecar: Lifecycle.Sidecar },
    ]),
  );

const taskResources = (
  { Resources }: Task,
  cpuShares: number,
  cores: readonly number[] | null,
): AllocatedTaskResources => ({
  Cpu: { CpuShares: cpuShares, ReservedCores: cores },
  Memory: { MemoryMB: Resources.MemoryMB, MemoryMaxMB: Resources.MemoryMaxMB },
  Networks: null,
  Devices: null,
});

const needs = new WeakMap<AllocatedResources, Need>();

/**
 * The most that an allocation holds at once: what runs before the main tasks and what runs after
 * them never runs beside them, sidecars aside.
 */
export function needOf(resources: AllocatedResources): Need {
  let need = needs.get(resources);
  if (need === undefined) {
    need = sumNeed(resources);
    needs.set(resources, need);
  }
  return need;
}

function sumNeed({ Tasks, TaskLifecycles, Shared }: AllocatedResources): Need {
  const cpu = { before: 0, beside: 0, main: 0, after: 0 };
  const memory = { before: 0, beside: 0, main: 0, after: 0 };
  let cores = 0;
  for (const [name, task] of Object.entries(Tasks)) {
    const phase = phaseOf(TaskLifecycles[name] ?? null);
    cpu[phase] += task.Cpu.CpuShares;
    memory[phase] += task.Memory.MemoryMB;
    cores += task.Cpu.ReservedCores?.length ?? 0;
  }
  return { cpu: greatest(cpu), memory: greatest(memory), disk: Shared.DiskMB, cores };
}

type Phase = 'before' | 'beside' | 'main' | 'after';

function phaseOf(lifecycle: { readonly Hook: string; readonly Sidecar: boolean } | null): Phase {
  if (lifecycle?.Hook === 'prestart') return lifecycle.Sidecar ? 'beside' : 'before';
  return lifecycle?.Hook === 'poststop' ? 'after' : 'main';
}

const greatest = (sums: Readonly<Record<Phase, number>>): number =>
  sums.beside + Math.max(sums.before, sums.main, sums.after);

/** What a node has for allocations. Its cores are all it may reserve. */
export function capacityOf(node: Node): Need {
  const { NodeResources: total, ReservedResources: kept } = node;
  return {
    cpu: total.Cpu.CpuShares - kept.Cpu.CpuShares,
    memory: total.Memory.MemoryMB - kept.Memory.MemoryMB,
    disk: total.Disk.DiskMB - kept.Disk.DiskMB,
    cores: total.Cpu.ReservableCpuCores.length,
  };
}

/** What a need takes beyond another that it may have. */
export const beyond = (need: Need, other: Need): Need => ({
  cpu: Math.max(need.cpu - other.cpu, 0),
  memory: Math.max(need.memory - other.memory, 0),
  disk: Math.max(need.disk - other.disk, 0),
  cores: Math.max(need.cores - other.cores, 0),
});

export const coresOf = ({ Tasks }: AllocatedResources): readonly number[] =>
  Object.values(Tasks).flatMap((task) => task.Cpu.ReservedCores ?? []);

/** Cores are told apart by number, so they are not compared here. */
export function shortage(used: Need, need: Need, capacity: Need): string | undefined {
  if (used.cpu + need.cpu > capacity.cpu) return 'cpu';
  if (used.memory + need.memory > capacity.memory) return 'memory';
  return used.disk + need.disk > capacity.disk ? 'disk' : undefined;
}

/** The ask on a node: a task that reserves cores gets these cores' share of the CPU. */
export function templateOn(ask: Ask, node: Node, freeCores: readonly number[]): AllocatedResources {
  if (ask.cores === 0) return ask.template;
  const { CpuShares, TotalCpuCores } = node.NodeResources.Cpu;
  const perCore = Math.floor(CpuShares / Math.max(TotalCpuCores, 1));
  let next = 0;
  const Tasks = Object.fromEntries(
    ask.group.Tasks.map((task) => {
      const count = task.Resources.Cores;
      if (count === 0) return [task.Name, ask.template.Tasks[task.Name]!];
      const cores = freeCores.slice(next, next + count);
      next += count;
      return [task.Name, taskResources(task, perCore * count, cores)];
    }),
  );
  return { ...ask.template, Tasks };
}

/** The resources with their ports written in. */
export function withNetworks(
  template: AllocatedResources,
  assigned: readonly AssignedNetwork[],
): AllocatedResources {
  if (assigned.length === 0) return template;
  // A map, for a task may have any name.
  const tasks = new Map(Object.entries(template.Tasks));
  let Shared = template.Shared;
  for (const entry of assigned) {
    const networks = [allocatedNetwork(entry)];
    if (entry.task === '') {
      const ports = [...entry.reserved, ...entry.dynamic];
      Shared = { ...Shared, Networks: networks, Ports: ports.length === 0 ? null : ports };
    } else {
      tasks.set(entry.task, { ...tasks.get(entry.task)!, Networks: networks });
    }
  }
  return { ...template, Tasks: Object.fromEntries(tasks), Shared };
}

const allocatedNetwork = ({
  network,
  address,
  reserved,
  dynamic,
}: AssignedNetwork): AllocatedNetwork => ({
  Mode: network.Mode || 'host',
  Device: address?.Device ?? '',
  IP: address?.IP ?? '',
  MBits: network.MBits,
  ReservedPorts: reserved,
  DynamicPorts: dynamic,
});
