/** The brute-force scheduler: the resources that allocations hold, and all nodes for a single request. */
import type { AllocatedResources } from '../../model/allocation/allocated-resources.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Affinity, Constraint, Spread } from '../../model/constraint/constraint.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node, NodeNetwork } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { compileOperand } from '../fitting/operands.ts';
import { bestDevices, hasDeviceAffinities, piecesIn } from './brute-force-devices.test-helper.ts';

export interface Amounts {
  readonly cpu: number;
  readonly memory: number;
  readonly disk: number;
}

export interface Held extends Amounts {
  readonly id: string;
  readonly node: string;
  readonly group: string;
  /** Whether the allocation is of the job. */
  readonly ours: boolean;
  readonly cores: readonly number[];
  /** `address:port` */
  readonly ports: readonly string[];
  /** Pieces of devices. */
  readonly pieces: readonly string[];
  /** Whether it may still run and holds its resources. */
  readonly occupies: boolean;
  /** Whether it counts for the job: neither stopped nor ended. */
  readonly counts: boolean;
  readonly previous: string;
}

const over = ['complete', 'failed', 'lost'];

/**
 * The resources that a holder hands to its replacement: none while it waits for its own
 * predecessor.
 */
export const handedOn = (before: Held, held: readonly Held[]): Held | undefined =>
  before.occupies &&
  !held.some((one) => one.id === before.previous && one.node === before.node && one.occupies)
    ? before
    : undefined;

export function heldBy(allocation: Allocation, job: Pick<Job, 'ID' | 'Namespace'>): Held {
  const { Tasks, TaskLifecycles, Shared } = allocation.AllocatedResources;
  const { ClientStatus, DesiredStatus } = allocation;
  const occupies = !over.includes(ClientStatus) && DesiredStatus !== 'evict';
  const phases = Object.entries(Tasks).map(([name, task]) => ({
    phase: phaseOf(TaskLifecycles[name] ?? null),
    cpu: task.Cpu.CpuShares,
    memory: task.Memory.MemoryMB,
  }));
  return {
    id: allocation.ID,
    node: allocation.NodeID,
    group: allocation.TaskGroup,
    ours: allocation.JobID === job.ID && allocation.Namespace === job.Namespace,
    cpu: peak(phases.map(({ phase, cpu }) => [phase, cpu])),
    memory: peak(phases.map(({ phase, memory }) => [phase, memory])),
    disk: Shared.DiskMB,
    cores: Object.values(Tasks).flatMap((task) => task.Cpu.ReservedCores ?? []),
    ports: portsIn(allocation.AllocatedResources),
    pieces: piecesIn(allocation.AllocatedResources),
    occupies,
    counts: occupies && allocation.DesiredStatus === 'run',
    previous: allocation.PreviousAllocation,
  };
}

const portsIn = ({ Tasks, Shared }: AllocatedResources): readonly string[] => {
  const inTasks = Object.values(Tasks).flatMap((task) =>
    (task.Networks ?? []).flatMap((one) => [...one.ReservedPorts, ...one.DynamicPorts]),
  );
  return [...(Shared.Ports ?? []), ...inTasks].map((port) => `${port.HostIP}:${port.Value}`);
};

type Phase = 'before' | 'beside' | 'main' | 'after';

const phaseOf = (lifecycle: { Hook: string; Sidecar: boolean } | null): Phase =>
  lifecycle?.Hook === 'prestart'
    ? lifecycle.Sidecar
      ? 'beside'
      : 'before'
    : lifecycle?.Hook === 'poststop'
      ? 'after'
      : 'main';

function peak(amounts: readonly (readonly [Phase, number])[]): number {
  const sum = (phase: Phase) =>
    amounts.reduce((total, [one, amount]) => total + (one === phase ? amount : 0), 0);
  return sum('beside') + Math.max(sum('before'), sum('main'), sum('after'));
}

interface ScanInput {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly nodes: readonly Node[];
  readonly algorithm: 'binpack' | 'spread';
  readonly held: readonly Held[];
  readonly left: readonly { readonly node: string; readonly group: string }[];
  /** Id of the predecessor. */
  readonly leaver: string | undefined;
  /** Nodes on which the allocation failed. */
  readonly failed: ReadonlySet<string>;
}

/** All nodes for a request. */
export class Scan {
  readonly #input: ScanInput;
  /** The job's live allocations, without the predecessor. */
  readonly #job: readonly Held[];
  readonly #mine: readonly Held[];

  constructor(input: ScanInput) {
    this.#input = input;
    this.#job = input.held.filter((one) => one.ours && one.counts && one.id !== input.leaver);
    this.#mine = this.#job.filter((one) => one.group === input.group.Name);
  }

  isOpen(node: Node): boolean {
    return this.#isWanted(node) && this.#isDistinct(node) && this.#fits(node);
  }

  /** Whether the node passes all rules that do not depend on allocations. */
  #isWanted(node: Node): boolean {
    const { job, group } = this.#input;
    if (node.Status !== 'ready' || node.Drain || node.SchedulingEligibility !== 'eligible') {
      return false;
    }
    if (job.NodePool !== 'all' && node.NodePool !== job.NodePool) return false;
    if (!job.Datacenters.some((glob) => globPattern(glob).test(node.Datacenter))) return false;
    const rules = [
      ...(job.Constraints ?? []),
      ...(group.Constraints ?? []),
      ...group.Tasks.flatMap((task) => task.Constraints ?? []),
    ].filter((rule) => !rule.Operand.startsWith('distinct_'));
    if (!rules.every((rule) => compileOperand(rule)(node))) return false;
    const drivers = group.Tasks.map((task) => node.Drivers[task.Driver]);
    if (!drivers.every((driver) => driver?.Detected && driver.Healthy)) return false;
    return networksOf(group).every(
      (network) =>
        node.NodeResources.Networks.some(
          (one) => (one.Mode || 'host') === (network.Mode || 'host'),
        ) &&
        [...(network.ReservedPorts ?? []), ...(network.DynamicPorts ?? [])].every(
          (port) => addressOf(node, port.HostNetwork) !== undefined,
        ),
    );
  }

  #isDistinct(node: Node): boolean {
    const { job, group } = this.#input;
    const holds = (rule: Constraint, live: readonly Held[]): boolean => {
      if (rule.Operand === 'distinct_hosts') {
        return rule.RTarget === 'false' || !live.some((one) => one.node === node.ID);
      }
      if (rule.Operand !== 'distinct_property') return true;
      const value = read(rule.LTarget, node);
      const same = live.filter((one) => this.#valueAt(rule.LTarget, one.node) === value).length;
      return value !== undefined && same < (rule.RTarget === '' ? 1 : Number(rule.RTarget));
    };
    return (
      (job.Constraints ?? []).every((rule) => holds(rule, this.#job)) &&
      (group.Constraints ?? []).every((rule) => holds(rule, this.#mine))
    );
  }

  #fits(node: Node): boolean {
    const { group } = this.#input;
    const ask = askOn(group, node);
    const used = this.#usedWith(node, ask);
    const { Cpu, Memory, Disk } = capacity(node);
    if (used.cpu > Cpu || used.memory > Memory || used.disk > Disk) return false;
    const there = this.#heldOn(node).filter((one) => one !== this.#giver(node));
    const busy = new Set(there.flatMap((one) => one.cores));
    const cores = node.NodeResources.Cpu.ReservableCpuCores.filter((core) => !busy.has(core));
    const asked = group.Tasks.reduce((sum, task) => sum + task.Resources.Cores, 0);
    if (cores.length < asked || this.#devices(node) === undefined) return false;
    return this.#portsFit(node, there);
  }

  #devices(node: Node): number | undefined {
    const there = this.#heldOn(node).filter((one) => one !== this.#giver(node));
    return bestDevices(node, this.#input.group, new Set(there.flatMap((one) => one.pieces)));
  }

  excess(node: Node): Amounts {
    const used = this.#usedWith(node, askOn(this.#input.group, node));
    const { Cpu, Memory, Disk } = capacity(node);
    return {
      cpu: Math.max(used.cpu - Cpu, 0),
      memory: Math.max(used.memory - Memory, 0),
      disk: Math.max(used.disk - Disk, 0),
    };
  }

  #portsFit(node: Node, there: readonly Held[]): boolean {
    const networks = networksOf(this.#input.group);
    const reserved = reservedPorts(node);
    const taken = new Set(there.flatMap((one) => one.ports));
    const isFree = (address: string, port: number): boolean =>
      !reserved.has(port) && !taken.has(`${address}:${port}`);
    for (const port of networks.flatMap((network) => network.ReservedPorts ?? [])) {
      const address = addressOf(node, port.HostNetwork)!.IP;
      if (!isFree(address, port.Value) && !port.IgnoreCollision) return false;
      taken.add(`${address}:${port.Value}`);
    }
    for (const port of networks.flatMap((network) => network.DynamicPorts ?? [])) {
      const address = addressOf(node, port.HostNetwork)!.IP;
      let value = node.NodeResources.MinDynamicPort;
      while (!isFree(address, value)) value++;
      if (value > node.NodeResources.MaxDynamicPort) return false;
      taken.add(`${address}:${value}`);
    }
    return true;
  }

  score(node: Node): number {
    const scores = this.scores(node);
    return scores.reduce((total, score) => total + score, 0) / scores.length;
  }

  scores(node: Node): readonly number[] {
    const { group, algorithm, failed } = this.#input;
    const used = this.#usedWith(node, askOn(group, node));
    const { Cpu, Memory } = capacity(node);
    const free = (amount: number, total: number): number => (total > 0 ? 1 - amount / total : 0);
    const powers = 10 ** free(used.cpu, Cpu) + 10 ** free(used.memory, Memory);
    const fit = algorithm === 'binpack' ? 20 - powers : powers - 2;
    const scores = [Math.min(Math.max(fit, 0), 18) / 18];
    if (hasDeviceAffinities(group)) scores.push(this.#devices(node)!);
    const neighbours = this.#mine.filter((one) => one.node === node.ID).length;
    if (neighbours > 0) scores.push(-(neighbours + 1) / group.Count);
    const affinity = this.#affinity(node);
    if (affinity !== undefined) scores.push(affinity);
    if (failed.has(node.ID)) scores.push(-1);
    const spread = this.#spread(node);
    if (spread !== 0) scores.push(spread);
    return scores;
  }

  #affinity(node: Node): number | undefined {
    const { job, group } = this.#input;
    const affinities: Affinity[] = [
      ...(job.Affinities ?? []),
      ...(group.Affinities ?? []),
      ...group.Tasks.flatMap((task) => task.Affinities ?? []),
    ];
    if (affinities.length === 0) return undefined;
    const matched = affinities.filter((affinity) => compileOperand(affinity)(node));
    const whole = affinities.reduce((total, one) => total + Math.abs(one.Weight), 0);
    return matched.reduce((total, one) => total + one.Weight, 0) / whole;
  }

  #spread(node: Node): number {
    const { job, group } = this.#input;
    const spreads = [...(job.Spreads ?? []), ...(group.Spreads ?? [])];
    const whole = spreads.reduce((total, one) => total + one.Weight, 0);
    return spreads.reduce((total, spread) => total + this.#boost(spread, whole, node), 0);
  }

  #boost({ Attribute, SpreadTarget, Weight }: Spread, whole: number, node: Node): number {
    const value = read(Attribute, node);
    const used = this.#mine
      .map((one) => this.#valueAt(Attribute, one.node))
      .filter((one) => one !== undefined);
    const count = (name: string): number => used.filter((one) => one === name).length;
    const inUse = new Set([...used, ...this.#valuesLeft(Attribute)]);
    if ((SpreadTarget ?? []).length === 0) {
      if (inUse.size === 0) return 0;
      if (value === undefined) return -1;
      const counts = [...inUse].map(count);
      const least = Math.min(...counts);
      const most = Math.max(...counts);
      const current = count(value);
      if (current !== least) return least === 0 ? -1 : (least - current) / least;
      if (least === most) return -1;
      return least === 0 ? 1 : (most - least) / least;
    }
    if (value === undefined) return -1;
    const targets = SpreadTarget!.map((one) => {
      return { name: one.Value, wanted: (one.Percent / 100) * this.#input.group.Count };
    });
    const sum = targets.reduce((total, one) => total + one.wanted, 0);
    const wantedOf = (name: string): number | undefined =>
      targets.findLast((one) => one.name === name)?.wanted ??
      targets.findLast((one) => one.name === '*')?.wanted ??
      (sum < this.#input.group.Count ? this.#input.group.Count - sum : undefined);
    const boost = (name: string, wanted: number): number =>
      ((wanted - (count(name) + 1)) / wanted) * (Weight / whole);
    const wanted = wantedOf(value);
    if (wanted === undefined) return -1;
    if (wanted !== 0) return boost(value, wanted);
    const others = this.#input.nodes
      .filter((one) => this.#isWanted(one))
      .map((one) => read(Attribute, one))
      .filter((name) => name !== undefined);
    const boosts = [...inUse, ...others].flatMap((name) => {
      const other = wantedOf(name);
      return other === undefined || other === 0 ? [] : [boost(name, other)];
    });
    return Math.min(-1, ...boosts);
  }

  /** Values of the allocations that this plan stops. */
  #valuesLeft(target: string): string[] {
    const { left, leaver, held, group } = this.#input;
    const going = held.filter((one) => one.id === leaver && one.ours && one.counts);
    return [...left, ...going]
      .filter((one) => one.group === group.Name)
      .map((one) => this.#valueAt(target, one.node))
      .filter((value) => value !== undefined);
  }

  #valueAt(target: string, id: string): string | undefined {
    const node = this.#input.nodes.find((one) => one.ID === id);
    return node === undefined ? undefined : read(target, node);
  }

  #heldOn(node: Node): readonly Held[] {
    return this.#input.held.filter((one) => one.node === node.ID && one.occupies);
  }

  #giver(node: Node): Held | undefined {
    const before = this.#heldOn(node).find((one) => one.id === this.#input.leaver);
    return before === undefined ? undefined : handedOn(before, this.#input.held);
  }

  /** The resources used with the ask in the place of its predecessor. */
  #usedWith(node: Node, ask: Amounts): Amounts {
    const giver = this.#giver(node);
    const there = this.#heldOn(node);
    const sum = (key: keyof Amounts): number =>
      there.reduce((total, one) => total + one[key], 0) +
      Math.max(ask[key] - (giver?.[key] ?? 0), 0);
    return { cpu: sum('cpu'), memory: sum('memory'), disk: sum('disk') };
  }
}

export function askOn(group: TaskGroup, node: Node): Amounts {
  const { CpuShares, TotalCpuCores } = node.NodeResources.Cpu;
  const perCore = Math.floor(CpuShares / Math.max(TotalCpuCores, 1));
  const phases = group.Tasks.map(({ Resources, Lifecycle }) => ({
    phase: phaseOf(Lifecycle),
    cpu: Resources.Cores > 0 ? perCore * Resources.Cores : Resources.CPU,
    memory: Resources.MemoryMB,
  }));
  return {
    cpu: peak(phases.map(({ phase, cpu }) => [phase, cpu])),
    memory: peak(phases.map(({ phase, memory }) => [phase, memory])),
    disk: group.EphemeralDisk.SizeMB,
  };
}

const capacity = ({ NodeResources: total, ReservedResources: kept }: Node) => ({
  Cpu: total.Cpu.CpuShares - kept.Cpu.CpuShares,
  Memory: total.Memory.MemoryMB - kept.Memory.MemoryMB,
  Disk: total.Disk.DiskMB - kept.Disk.DiskMB,
});

const networksOf = (group: TaskGroup) =>
  [group.Networks?.[0], ...group.Tasks.map((task) => task.Resources.Networks?.[0])].filter(
    (network) => network !== undefined,
  );

const addressOf = (node: Node, name: string): NodeNetwork | undefined =>
  node.NodeResources.Networks.filter((one) => (one.Mode || 'host') === 'host').find(
    (one) => name === '' || name === 'default' || one.Device === name,
  );

/** Reads plain numbers separated by commas. */
const reservedPorts = (node: Node): ReadonlySet<number> =>
  new Set(node.ReservedResources.Networks.ReservedHostPorts.split(',').map(Number));

function read(target: string, node: Node): string | undefined {
  const [, name = ''] = /^\$\{(.*)\}$/.exec(target) ?? [];
  if (name === 'node.unique.id') return node.ID;
  if (name === 'node.unique.name') return node.Name;
  if (name === 'node.datacenter') return node.Datacenter;
  if (name === 'node.class') return node.NodeClass;
  if (name.startsWith('meta.')) return node.Meta[name.slice(5)];
  if (name.startsWith('attr.')) return node.Attributes[name.slice(5)];
  throw new Error(`the oracle does not know the target ${target}`);
}

const globPattern = (glob: string): RegExp =>
  new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`);
