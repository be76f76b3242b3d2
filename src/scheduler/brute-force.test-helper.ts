/**
 * The obvious scheduler, as an oracle: for each placement it looks at every node from scratch, with
 * nothing kept between two placements. It knows new placements only, and shares no code with what
 * it judges but the comparison of operands.
 */
import type { Allocation } from '../model/allocation/allocation.ts';
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { compileOperand } from './operands.ts';

export interface Held {
  readonly node: string;
  readonly group: string;
  readonly ours: boolean;
  readonly cpu: number;
  readonly memory: number;
  readonly disk: number;
  /** Host port values. */
  readonly ports: readonly number[];
}

interface Limits {
  readonly algorithm: 'binpack' | 'spread';
}

export const heldBy = (allocation: Allocation, jobId: string): Held => {
  const tasks = Object.values(allocation.AllocatedResources.Tasks);
  return {
    node: allocation.NodeID,
    group: allocation.TaskGroup,
    ours: allocation.JobID === jobId,
    cpu: tasks.reduce((sum, task) => sum + task.Cpu.CpuShares, 0),
    memory: tasks.reduce((sum, task) => sum + task.Memory.MemoryMB, 0),
    disk: allocation.AllocatedResources.Shared.DiskMB,
    ports: (allocation.AllocatedResources.Shared.Ports ?? []).map((port) => port.Value),
  };
};

const askOf = (group: TaskGroup): Omit<Held, 'node' | 'group' | 'ours' | 'ports'> => ({
  cpu: group.Tasks.reduce((sum, task) => sum + task.Resources.CPU, 0),
  memory: group.Tasks.reduce((sum, task) => sum + task.Resources.MemoryMB, 0),
  disk: group.EphemeralDisk.SizeMB,
});

const rackOf = (node: Node): string | undefined => node.Meta.rack;

/** The chosen nodes' ids, one for each that could be placed. */
export function bruteForce(
  job: Job,
  group: TaskGroup,
  nodes: readonly Node[],
  held: readonly Held[],
  limits: Limits,
): readonly string[] {
  const now = [...held];
  const chosen: string[] = [];
  const missing = group.Count - held.filter((one) => one.ours && one.group === group.Name).length;
  for (let turn = 0; turn < missing; turn++) {
    let best: { id: string; score: number; ports: readonly number[] } | undefined;
    for (const node of nodes) {
      const ports = freePorts(group, node, now);
      if (ports === undefined || !isFeasible(job, group, node, nodes, now)) continue;
      const score = scoreOf(job, group, node, nodes, now, limits);
      if (best === undefined || score > best.score) best = { id: node.ID, score, ports };
    }
    if (best === undefined) break;
    chosen.push(best.id);
    const ask = askOf(group);
    now.push({ node: best.id, group: group.Name, ours: true, ...ask, ports: best.ports });
  }
  return chosen;
}

function isFeasible(
  job: Job,
  group: TaskGroup,
  node: Node,
  nodes: readonly Node[],
  held: readonly Held[],
): boolean {
  if (node.Status !== 'ready' || node.Drain || node.SchedulingEligibility !== 'eligible')
    return false;
  if (node.NodePool !== job.NodePool) return false;
  if (!job.Datacenters.includes('*') && !job.Datacenters.includes(node.Datacenter)) return false;
  const mine = held.filter((one) => one.ours && one.group === group.Name);
  for (const constraint of group.Constraints ?? []) {
    if (constraint.Operand === 'distinct_hosts') {
      if (mine.some((one) => one.node === node.ID)) return false;
    } else if (constraint.Operand === 'distinct_property') {
      const rack = rackOf(node);
      const same = mine.filter((one) => rackOfId(one.node, nodes) === rack).length;
      if (rack === undefined || same >= Number(constraint.RTarget)) return false;
    } else if (!compileOperand(constraint)(node)) {
      return false;
    }
  }
  const ask = askOf(group);
  const there = held.filter((one) => one.node === node.ID);
  const fits = (key: 'cpu' | 'memory' | 'disk', total: number): boolean =>
    there.reduce((sum, one) => sum + one[key], ask[key]) <= total;
  const { Cpu, Memory, Disk } = node.NodeResources;
  return fits('cpu', Cpu.CpuShares) && fits('memory', Memory.MemoryMB) && fits('disk', Disk.DiskMB);
}

const rackOfId = (id: string, nodes: readonly Node[]): string | undefined =>
  rackOf(nodes.find((node) => node.ID === id)!);

/** Which ones does not matter here, only how many there are. */
function freePorts(
  group: TaskGroup,
  node: Node,
  held: readonly Held[],
): readonly number[] | undefined {
  const taken = new Set(held.filter((one) => one.node === node.ID).flatMap((one) => one.ports));
  const given: number[] = [];
  for (const { Value } of group.Networks?.[0]?.ReservedPorts ?? []) {
    if (taken.has(Value)) return undefined;
    taken.add(Value);
    given.push(Value);
  }
  for (const _ of group.Networks?.[0]?.DynamicPorts ?? []) {
    let port = node.NodeResources.MinDynamicPort;
    while (taken.has(port)) port++;
    if (port > node.NodeResources.MaxDynamicPort) return undefined;
    taken.add(port);
    given.push(port);
  }
  return given;
}

function scoreOf(
  job: Job,
  group: TaskGroup,
  node: Node,
  nodes: readonly Node[],
  held: readonly Held[],
  { algorithm }: Limits,
): number {
  const ask = askOf(group);
  const there = held.filter((one) => one.node === node.ID);
  const free = (key: 'cpu' | 'memory', total: number): number =>
    1 - there.reduce((sum, one) => sum + one[key], ask[key]) / total;
  const powers =
    10 ** free('cpu', node.NodeResources.Cpu.CpuShares) +
    10 ** free('memory', node.NodeResources.Memory.MemoryMB);
  const fit = algorithm === 'binpack' ? 20 - powers : powers - 2;
  const scores = [Math.min(Math.max(fit, 0), 18) / 18];

  const mine = held.filter((one) => one.ours && one.group === group.Name);
  const neighbours = mine.filter((one) => one.node === node.ID).length;
  if (neighbours > 0) scores.push(-(neighbours + 1) / group.Count);

  const affinities = group.Affinities ?? [];
  if (affinities.length > 0) {
    const matched = affinities.filter((affinity) => compileOperand(affinity)(node));
    const sum = (list: typeof affinities) =>
      list.reduce((total, one) => total + Math.abs(one.Weight), 0);
    scores.push(matched.reduce((total, one) => total + one.Weight, 0) / sum(affinities));
  }

  const racks = mine.map((one) => rackOfId(one.node, nodes));
  const spread = (job.Spreads ?? [])
    .map(({ SpreadTarget, Weight }) => {
      const whole = job.Spreads!.reduce((total, one) => total + one.Weight, 0);
      return (SpreadTarget ?? []).length === 0
        ? even(rackOf(node), racks)
        : targeted(rackOf(node), racks, SpreadTarget!, group.Count, Weight / whole);
    })
    .reduce((total, boost) => total + boost, 0);
  if (spread !== 0) scores.push(spread);
  return scores.reduce((total, score) => total + score, 0) / scores.length;
}

function even(rack: string | undefined, used: readonly (string | undefined)[]): number {
  const known = used.filter((value) => value !== undefined);
  if (known.length === 0) return 0;
  if (rack === undefined) return -1;
  const count = (value: string): number => known.filter((other) => other === value).length;
  const counts = [...new Set(known)].map(count);
  const least = Math.min(...counts);
  const most = Math.max(...counts);
  const current = count(rack);
  if (current !== least) return (least - current) / least;
  return least === most ? -1 : (most - least) / least;
}

function targeted(
  rack: string | undefined,
  used: readonly (string | undefined)[],
  targets: readonly { readonly Value: string; readonly Percent: number }[],
  count: number,
  share: number,
): number {
  if (rack === undefined) return -1;
  const named = targets.find((target) => target.Value === rack);
  const sum = targets.reduce((total, target) => total + (target.Percent / 100) * count, 0);
  const wanted = named ? (named.Percent / 100) * count : sum < count ? count - sum : undefined;
  if (wanted === undefined) return -1;
  const there = used.filter((value) => value === rack).length;
  return ((wanted - (there + 1)) / wanted) * share;
}
