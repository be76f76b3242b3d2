import { instantToMs } from '../../base/instant.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import { groupNamed } from '../../model/job/job-rules.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { lostAfterMs, unknownSinceMs } from '../../scheduler/reconcile/classify.ts';
import { allocations, inNamespace, jobVersions, nodes, numberPart } from '../../state/tables.ts';
import type { Snapshot, Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { removeServicesOfNode } from '../services/remove.ts';
import { evaluateNode } from './evaluate.ts';
import { setNodeStatus } from './status.ts';

/** The status of a node after a missed heartbeat. */
export type Missed =
  | { readonly status: 'down' }
  /** How long the node is waited for; after that its status is decided again. */
  | { readonly status: 'disconnected'; readonly forMs: number };

/**
 * Stores that a node was not heard in time. The node is disconnected as long as an allocation may
 * wait for its return, and down otherwise: then its allocations are replaced.
 * Source: docs/behaviour/nodes.md#away-and-back.
 */
export async function noteMissed(
  { state, world }: ServerContext,
  nodeId: string,
): Promise<Missed | undefined> {
  const { value } = await state.write((transaction) => {
    const nowMs = world.clock.nowMs();
    const node = transaction.table(nodes).get(nodeId);
    if (node === undefined || node.Status === 'down') return undefined;
    const missed = judge(transaction, node, nowMs);
    const message =
      node.Status === 'disconnected' ? 'Node did not come back in time' : 'Node heartbeat missed';
    if (setNodeStatus(transaction, nowMs, nodeId, { status: missed.status, message })) {
      if (missed.status === 'down') removeServicesOfNode(transaction, nodeId);
      evaluateNode(transaction, world, nodeId);
    }
    return missed;
  });
  return value;
}

function judge(snapshot: Transaction, node: Node, nowMs: number): Missed {
  const untilMs = awaitedUntilMs(snapshot, node, nowMs);
  if (untilMs <= nowMs) return { status: 'down' };
  return { status: 'disconnected', forMs: untilMs - nowMs };
}

/** Until when the last of the node's allocations waits for its return. In the past: none waits. */
export function awaitedUntilMs(snapshot: Snapshot, node: Node, nowMs: number): number {
  const awayMs = node.Status === 'disconnected' ? instantToMs(node.StatusUpdatedAt) : nowMs;
  let untilMs = 0;
  const range = { prefix: [node.ID] };
  for (const allocation of snapshot.table(allocations).by('occupant').scan(range)) {
    if (isTerminal(allocation)) continue;
    const waitMs = lostAfterMs(groupOf(snapshot, allocation));
    if (waitMs === 0) continue;
    // An allocation may be unknown from an earlier absence, if its node came back and did not
    // report it.
    const sinceMs = allocation.ClientStatus === 'unknown' ? unknownSinceMs(allocation) : awayMs;
    untilMs = Math.max(untilMs, sinceMs + waitMs);
  }
  return untilMs;
}

function groupOf(snapshot: Snapshot, allocation: Allocation): TaskGroup | undefined {
  const { Namespace, JobID, JobVersion, TaskGroup } = allocation;
  const key = inNamespace(Namespace, JobID, numberPart(JobVersion));
  const job = snapshot.table(jobVersions).get(...key);
  return job === undefined ? undefined : groupNamed(job, TaskGroup);
}
