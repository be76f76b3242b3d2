/**
 * The resources that a group asks for, an allocation holds and a node has.
 * Source: docs/behaviour/job-specification.md#resources.
 */
import type {
  AllocatedNetwork,
  AllocatedResources,
  AllocatedTaskResources,
} from '../../model/allocation/allocated-resources.ts';
import type { Node } from '../../model/node/node.ts';
import type { Task } from '../../model/task/task.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { type DeviceAsk, deviceAsks } from './devices.ts';
import { type AssignedNetwork, type NetworkAsk, networkAsks } from './ports.ts';

/** CPU in MHz, memory and disk in MB, cores as a count. */
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
  /** Cores of all tasks together. */
  readonly cores: number;
  /**
   * The allocation's resources without cores, ports and devices. Allocations that need no more
   * share this object.
   */
  readonly template: AllocatedResources;
}

export function askOf(group: TaskGroup): Ask {
  const template: AllocatedResources = {
    Tasks: Object.fromEntries(
      group.Tasks.map((task) => [task.Name, taskResources(task, task.Resources.CPU, null)]),
    ),
    TaskLifecycles: lifecyclesOf(group),
    Shared: { DiskMB: group.EphemeralDisk.SizeMB, Networks: null, Ports: null },
  };
  needs.set(template, sumNeed(template));
  return {
    group,
    networks: networkAsks(group),
    devices: deviceAsks(group),
    cores: group.Tasks.reduce((total, task) => total + task.Resources.Cores, 0),
    template,
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

/**
 * Needs of shared templates only. With an entry for each allocation the table would grow without
 * bound, and the garbage collector walks such a table in one go.
 */
const needs = new WeakMap<AllocatedResources, Need>();

/**
 * The most that an allocation uses at once: prestart, main and poststop tasks run one after the
 * other, and sidecars beside all of them.
 */
export const needOf = (resources: AllocatedResources): Need =>
  needs.get(resources) ?? sumNeed(resources);

function sumNeed({ Tasks, TaskLifecycles, Shared }: AllocatedResources): Need {
  const before = { cpu: 0, memory: 0 };
  const beside = { cpu: 0, memory: 0 };
  const main = { cpu: 0, memory: 0 };
  const after = { cpu: 0, memory: 0 };
  let cores = 0;
  for (const name of Object.keys(Tasks)) {
    const { Cpu, Memory } = Tasks[name]!;
    const lifecycle = TaskLifecycles[name] ?? null;
    let phase = main;
    if (lifecycle?.Hook === 'prestart') phase = lifecycle.Sidecar ? beside : before;
    else if (lifecycle?.Hook === 'poststop') phase = after;
    phase.cpu += Cpu.CpuShares;
    phase.memory += Memory.MemoryMB;
    cores += Cpu.ReservedCores?.length ?? 0;
  }
  return {
    cpu: beside.cpu + Math.max(before.cpu, main.cpu, after.cpu),
    memory: beside.memory + Math.max(before.memory, main.memory, after.memory),
    disk: Shared.DiskMB,
    cores,
  };
}

/**
 * The resources that a node offers to allocations: total less reserved, and all reservable cores.
 */
export function capacityOf(node: Node): Need {
  const { NodeResources: total, ReservedResources: kept } = node;
  return {
    cpu: total.Cpu.CpuShares - kept.Cpu.CpuShares,
    memory: total.Memory.MemoryMB - kept.Memory.MemoryMB,
    disk: total.Disk.DiskMB - kept.Disk.DiskMB,
    cores: total.Cpu.ReservableCpuCores.length,
  };
}

/** Whether an ask is for things that exist once each: cores, ports or devices. */
export const asksPieces = ({ cores, devices, networks }: Ask): boolean =>
  cores > 0 || devices.length > 0 || networks.length > 0;

/** The part of a need that another need does not cover. */
export const beyond = (need: Need, other: Need): Need => ({
  cpu: Math.max(need.cpu - other.cpu, 0),
  memory: Math.max(need.memory - other.memory, 0),
  disk: Math.max(need.disk - other.disk, 0),
  cores: Math.max(need.cores - other.cores, 0),
});

/** Whether an allocation holds things that exist once each: cores, ports or devices. */
export function holdsPieces({ Tasks, Shared }: AllocatedResources): boolean {
  if (Shared.Ports?.length) return true;
  for (const name in Tasks) {
    const { Cpu, Networks, Devices } = Tasks[name]!;
    if (Cpu.ReservedCores?.length || Networks?.length || Devices?.length) return true;
  }
  return false;
}

export const coresOf = ({ Tasks }: AllocatedResources): readonly number[] =>
  Object.values(Tasks).flatMap((task) => task.Cpu.ReservedCores ?? []);

/**
 * The first dimension that is short. Cores are not compared: each is taken or free by its number.
 */
export function shortage(used: Need, need: Need, capacity: Need): string | undefined {
  if (used.cpu + need.cpu > capacity.cpu) return 'cpu';
  if (used.memory + need.memory > capacity.memory) return 'memory';
  return used.disk + need.disk > capacity.disk ? 'disk' : undefined;
}

/** The template on a node: a task that reserves cores gets these cores' share of the CPU. */
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

/** The template with its networks and ports. */
export function withNetworks(
  template: AllocatedResources,
  assigned: readonly AssignedNetwork[],
): AllocatedResources {
  if (assigned.length === 0) return template;
  let Shared = template.Shared;
  const networksOf = new Map<string, readonly AllocatedNetwork[]>();
  for (const entry of assigned) {
    const networks = [allocatedNetwork(entry)];
    if (entry.task === '') {
      const { reserved, dynamic } = entry;
      const ports = reserved.length === 0 ? dynamic : [...reserved, ...dynamic];
      Shared = { ...Shared, Networks: networks, Ports: ports.length === 0 ? null : ports };
    } else {
      networksOf.set(entry.task, networks);
    }
  }
  // Allocations without networks of tasks keep sharing the template's `Tasks`.
  if (networksOf.size === 0) return { ...template, Shared };
  const tasks = Object.entries(template.Tasks).map(([name, task]) => {
    const Networks = networksOf.get(name);
    return [name, Networks === undefined ? task : { ...task, Networks }];
  });
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
