import type { Node } from '../../model/node/node.ts';
import type { NodeTopology } from '../../model/node/topology.ts';
import { raise, type Sum } from '../../scheduler/fitting/occupancy.ts';
import { capacityOf, type Need, needOf } from '../../scheduler/fitting/resources.ts';
import { allocations } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

interface Held {
  /** The index of the last change of the allocations on the node. */
  readonly index: number;
  readonly Allocated: NodeTopology['Allocated'];
  readonly Allocations: NodeTopology['Allocations'];
}

/**
 * What each node offers, and what is held of it. The sums of a node are kept until one of its allocations changes,
 * so that a list of a thousand nodes does not walk fifty thousand allocations.
 */
export class Topology {
  /** By node. A row that is gone takes its sums with it. */
  readonly #held = new Map<string, Held>();

  of(snapshot: Snapshot, node: Node, keys: readonly string[]): NodeTopology {
    const { ID, Name, Datacenter, NodePool, NodeClass, Status, SchedulingEligibility, Drain } =
      node;
    const { CreateIndex, ModifyIndex } = node;
    const { Allocated, Allocations } = this.#heldOn(snapshot, ID);
    const has = (key: string) => Object.hasOwn(node.Meta ?? {}, key);
    const meta = keys.filter(has).map((key) => [key, node.Meta![key]!] as const);
    return {
      ID,
      Name,
      Datacenter,
      NodePool,
      NodeClass,
      Meta: Object.fromEntries(meta),
      Status,
      SchedulingEligibility,
      Drain,
      Version: node.Attributes['roster.version'] ?? '',
      Capacity: amounts(capacityOf(node)),
      Allocated,
      Allocations,
      CreateIndex,
      ModifyIndex,
    };
  }

  /** Forgets the sums of nodes that are gone. */
  forget(nodeId: string): void {
    this.#held.delete(nodeId);
  }

  forgetAll(): void {
    this.#held.clear();
  }

  #heldOn(snapshot: Snapshot, nodeId: string): Held {
    const range = { prefix: [nodeId] };
    const occupants = snapshot.table(allocations).by('occupant');
    const index = occupants.lastIndex(range);
    const known = this.#held.get(nodeId);
    if (known?.index === index) return known;
    const sum: Sum = { cpu: 0, memory: 0, disk: 0, cores: 0 };
    const counts: Record<string, number> = {};
    for (const { AllocatedResources, ClientStatus } of occupants.scan(range)) {
      raise(sum, needOf(AllocatedResources));
      counts[ClientStatus] = (counts[ClientStatus] ?? 0) + 1;
    }
    const held = { index, Allocated: amounts(sum), Allocations: counts };
    this.#held.set(nodeId, held);
    return held;
  }
}

const amounts = ({ cpu, memory, disk }: Omit<Need, 'cores'>): NodeTopology['Capacity'] => ({
  CPU: cpu,
  MemoryMB: memory,
  DiskMB: disk,
});
