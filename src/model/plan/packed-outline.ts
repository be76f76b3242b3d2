import { type Outline, type PlannedChange, plannedActions } from './outline.ts';

/** `[Namespace, JobID, TaskGroup]`. */
type PackedGroup = readonly [namespace: string, jobId: string, taskGroup: string];

/** `[NodeID, NodeName]`. */
type PackedNode = readonly [id: string, name: string];

/**
 * A change. `action` is a position in `plannedActions`; `group` and `node` are positions in the lists of the packed
 * outline. `id` is the id of the allocation, or, for a new allocation, the id of the allocation that it replaces.
 * `canary` is 1 for a canary.
 */
type PackedChange = readonly [
  action: number,
  group: number,
  name: string,
  node: number,
  id: string,
  canary: 0 | 1,
];

/** An outline in a quarter of its text, for a plan that is kept (docs/behaviour/jobs.md#plans). */
export interface PackedOutline extends Pick<Outline, 'queued' | 'deployments'> {
  readonly groups: readonly PackedGroup[];
  readonly nodes: readonly PackedNode[];
  readonly changes: readonly PackedChange[];
}

export function packOutline({ changes, queued, deployments }: Outline): PackedOutline {
  const groups: PackedGroup[] = [];
  const nodes: PackedNode[] = [];
  const nodeAt = new Map<string, number>();
  const nodeOf = ({ NodeID, NodeName }: PlannedChange): number => {
    const known = nodeAt.get(NodeID);
    if (known !== undefined) return known;
    nodeAt.set(NodeID, nodes.length);
    return nodes.push([NodeID, NodeName]) - 1;
  };
  // Changes are in the order of their groups, so most have the group of the change before.
  const groupOf = ({ Namespace, JobID, TaskGroup }: PlannedChange): number => {
    const last = groups.at(-1);
    const isLast = last?.[0] === Namespace && last[1] === JobID && last[2] === TaskGroup;
    return isLast ? groups.length - 1 : groups.push([Namespace, JobID, TaskGroup]) - 1;
  };
  const packed = changes.map(
    (one): PackedChange => [
      plannedActions.indexOf(one.Action),
      groupOf(one),
      one.Name,
      nodeOf(one),
      one.Action === 'place' ? one.PreviousAllocation : one.AllocID,
      one.Canary ? 1 : 0,
    ],
  );
  return { groups, nodes, changes: packed, queued, deployments };
}

/**
 * The outline as `outlineDifferences` reads it. The ids of new allocations, the ids that other allocations replaced,
 * and the descriptions are empty.
 */
export function unpackOutline(packed: PackedOutline): Outline {
  const { groups, nodes, changes, queued, deployments } = packed;
  const unpacked = changes.map(([action, group, Name, node, id, canary]): PlannedChange => {
    const Action = plannedActions[action]!;
    const [Namespace, JobID, TaskGroup] = groups[group]!;
    const [NodeID, NodeName] = nodes[node]!;
    const [AllocID, PreviousAllocation] = Action === 'place' ? ['', id] : [id, ''];
    const Canary = canary === 1;
    return {
      Action,
      Namespace,
      JobID,
      TaskGroup,
      Name,
      NodeID,
      NodeName,
      AllocID,
      PreviousAllocation,
      Canary,
      Description: '',
    };
  });
  return { changes: unpacked, queued, deployments };
}
