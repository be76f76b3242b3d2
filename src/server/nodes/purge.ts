import { nodes } from '../../state/tables.ts';
import type { ServerContext } from '../context.ts';
import { removeServicesOfNode } from '../services/remove.ts';
import { evaluated, evaluateNode, type NodeEvaluated, storedNode } from './evaluate.ts';

/**
 * Deletes a node at once. Its allocations are lost, and the evaluations made here replace them. A
 * node that still runs has to be introduced again, and then stops its allocations.
 * Source: docs/behaviour/nodes.md#eligibility-evaluation-purge.
 * @throws RosterError `node-not-found`
 */
export async function purgeNode(
  { state, world }: ServerContext,
  nodeId: string,
): Promise<NodeEvaluated> {
  const { index, value } = await state.write((transaction) => {
    storedNode(transaction, nodeId);
    const ids = evaluateNode(transaction, world, nodeId);
    removeServicesOfNode(transaction, nodeId);
    transaction.table(nodes).delete(nodeId);
    return ids;
  });
  return evaluated(value, index, index);
}
