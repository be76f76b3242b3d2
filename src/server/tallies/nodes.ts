import type { Allocation } from '../../model/allocation/allocation.ts';
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import { limits } from '../../model/limits.ts';
import { type Node, nodeStatuses } from '../../model/node/node.ts';
import { lower, raise, type Sum } from '../../scheduler/fitting/occupancy.ts';
import { type Need, needOf } from '../../scheduler/fitting/resources.ts';
import { allocations, nodes } from '../../state/tables.ts';
import { Counts } from './counts.ts';
import { columnsOf, Tally } from './tally.ts';

export const nodeWork = ['eligible', 'ineligible', 'draining'] as const;

const statusColumns = columnsOf(nodeStatuses);
const workColumns = columnsOf(nodeWork);

const byPool = [{ labels: ['pool'], groupsMax: Number.POSITIVE_INFINITY }];

/** Nodes by status, and by whether they take work. */
export class NodeTally extends Tally<Node> {
  readonly table = nodes;
  readonly statuses = nodeStatuses;
  readonly byStatus = new Counts(nodeStatuses.length, byPool);
  readonly work = nodeWork;
  readonly byWork = new Counts(nodeWork.length, byPool);

  protected count(node: Node, by: 1 | -1): void {
    const byStatus = this.byStatus.at(node.NodePool);
    byStatus.add(statusColumns[node.Status], by);
    byStatus.hold(by);
    const byWork = this.byWork.at(node.NodePool);
    byWork.add(workColumns[node.Drain ? 'draining' : node.SchedulingEligibility], by);
    byWork.hold(by);
  }
}

/** The resources that allocations hold, by node. */
export class HeldTally extends Tally<Allocation> {
  readonly table = allocations;
  readonly #held = new Map<string, Sum & { count: number }>();

  of(nodeId: string): Need {
    return this.#held.get(nodeId) ?? nothing;
  }

  protected count({ NodeID, AllocatedResources }: Allocation, by: 1 | -1): void {
    const held = this.#held.get(NodeID) ?? { ...nothing, count: 0 };
    (by === 1 ? raise : lower)(held, needOf(AllocatedResources));
    held.count += by;
    if (held.count === 0) this.#held.delete(NodeID);
    else this.#held.set(NodeID, held);
  }

  override load(row: Allocation): void {
    if (holdsResources(row)) this.count(row, 1);
  }

  override change(before: Allocation | undefined, after: Allocation | undefined): void {
    const had = before !== undefined && holdsResources(before);
    const has = after !== undefined && holdsResources(after);
    if (had && has && isSameHold(before, after)) return;
    super.change(had ? before : undefined, has ? after : undefined);
  }
}

const nothing: Need = { cpu: 0, memory: 0, disk: 0, cores: 0 };

const isSameHold = (before: Allocation, after: Allocation): boolean =>
  before.AllocatedResources === after.AllocatedResources && before.NodeID === after.NodeID;

/** The resources of a node that allocations may have. */
export const capacityOf = ({ NodeResources, ReservedResources }: Node): Omit<Need, 'cores'> => ({
  cpu: NodeResources.Cpu.CpuShares - ReservedResources.Cpu.CpuShares,
  memory: NodeResources.Memory.MemoryMB - ReservedResources.Memory.MemoryMB,
  disk: NodeResources.Disk.DiskMB - ReservedResources.Disk.DiskMB,
});

/** Whether there are so many nodes that metrics tell sums of node pools. */
export const areManyNodes = (count: number): boolean => count > limits.metrics.nodesMax;
