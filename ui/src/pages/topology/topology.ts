/** Nodes in groups, with what the groups have and hold. */
import type { NodeTopology } from '../../../../src/model/node/topology.ts';
import { type NodeWord, nodeWordOf, type Resource } from '../nodes/node-status.ts';

export interface NodeGroup {
  /** Of the datacenter and the group. */
  readonly key: string;
  /** `''`: the nodes without one. */
  readonly name: string;
  readonly nodes: readonly NodeTopology[];
  readonly sum: Sum;
}

export interface Datacenter {
  readonly name: string;
  readonly groups: readonly NodeGroup[];
  readonly sum: Sum;
}

export interface Sum {
  readonly nodes: number;
  readonly Capacity: NodeTopology['Capacity'];
  readonly Allocated: NodeTopology['Allocated'];
  /** Nodes that are not ready for work, by their state. */
  readonly others: ReadonlyMap<NodeWord, number>;
}

export type GroupBy = 'rack' | 'class' | 'pool';

const groupOf = (node: NodeTopology, by: GroupBy): string =>
  by === 'rack' ? (node.Meta.rack ?? '') : by === 'class' ? node.NodeClass : node.NodePool;

const collator = new Intl.Collator('en', { numeric: true });
const byName = (a: string, b: string): number => collator.compare(a, b);

export function datacentersOf(nodes: readonly NodeTopology[], by: GroupBy): readonly Datacenter[] {
  return [...Map.groupBy(nodes, ({ Datacenter: name }) => name)]
    .toSorted(([a], [b]) => byName(a, b))
    .map(([name, members]) => ({
      name,
      sum: sumOf(members),
      groups: [...Map.groupBy(members, (node) => groupOf(node, by))]
        .toSorted(([a], [b]) => byName(a, b))
        .map(([group, list]) => ({
          key: JSON.stringify([name, by, group]),
          name: group,
          nodes: list.toSorted((a, b) => byName(a.Name, b.Name)),
          sum: sumOf(list),
        })),
    }));
}

function sumOf(nodes: readonly NodeTopology[]): Sum {
  const Capacity = { CPU: 0, MemoryMB: 0, DiskMB: 0 };
  const Allocated = { CPU: 0, MemoryMB: 0, DiskMB: 0 };
  const others = new Map<NodeWord, number>();
  for (const node of nodes) {
    const word = nodeWordOf(node);
    for (const resource of Object.keys(Capacity) as Resource[]) {
      // As in the overview: a node that is down gives nothing.
      if (word === 'down') break;
      Capacity[resource] += node.Capacity[resource];
      Allocated[resource] += node.Allocated[resource];
    }
    if (word !== 'ready') others.set(word, (others.get(word) ?? 0) + 1);
  }
  return { nodes: nodes.length, Capacity, Allocated, others };
}
