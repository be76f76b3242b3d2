import { instantFromMs } from '../../base/instant.ts';
import type { Node, NodeStatus } from '../../model/node/node.ts';
import { withNodeEvent } from '../../model/node/node.ts';
import { nodes } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';

export interface NodeNews {
  readonly message: string;
  readonly subsystem: 'Cluster' | 'Drain' | 'Scheduler';
  readonly details?: Readonly<Record<string, string>>;
}

/** Changes what the servers say of a node, with an event that tells why. */
export function changeNode(
  transaction: Transaction,
  nowMs: number,
  node: Node,
  fields: Partial<Node>,
  { message, subsystem, details = {} }: NodeNews,
): Node {
  const event = {
    Message: message,
    Subsystem: subsystem,
    Details: details,
    Timestamp: instantFromMs(nowMs),
    CreateIndex: transaction.index,
  };
  return transaction.table(nodes).put({
    ...node,
    ...fields,
    Events: withNodeEvent(node.Events, event),
  });
}

/** Moves the node to a status, with an event that says why. Nothing when it is there already. */
export function setNodeStatus(
  transaction: Transaction,
  nowMs: number,
  nodeId: string,
  status: NodeStatus,
  message: string,
): boolean {
  const node = transaction.table(nodes).get(nodeId);
  if (node === undefined || node.Status === status) return false;
  const fields = { Status: status, StatusUpdatedAt: instantFromMs(nowMs) };
  changeNode(transaction, nowMs, node, fields, { message, subsystem: 'Cluster' });
  return true;
}
