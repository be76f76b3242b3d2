import { instantFromMs } from '../../base/instant.ts';
import type { Node, NodeStatus } from '../../model/node/node.ts';
import { withNodeEvent } from '../../model/node/node.ts';
import { nodes } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';

export interface NodeChange {
  readonly fields: Partial<Node>;
  /** The text of the node's event. */
  readonly message: string;
  readonly subsystem: 'Cluster' | 'Drain' | 'Scheduler';
  readonly details?: Readonly<Record<string, string>>;
}

/** Changes fields of a node that servers write, and adds an event to the node. */
export function changeNode(
  transaction: Transaction,
  nowMs: number,
  node: Node,
  { fields, message, subsystem, details = {} }: NodeChange,
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

/** `false`: the node is gone or has the status already. */
export function setNodeStatus(
  transaction: Transaction,
  nowMs: number,
  nodeId: string,
  { status, message }: { readonly status: NodeStatus; readonly message: string },
): boolean {
  const node = transaction.table(nodes).get(nodeId);
  if (node === undefined || node.Status === status) return false;
  const fields = { Status: status, StatusUpdatedAt: instantFromMs(nowMs) };
  changeNode(transaction, nowMs, node, { fields, message, subsystem: 'Cluster' });
  return true;
}
