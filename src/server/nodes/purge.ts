import { nodes } from '../../state/tables.ts';
import type { ServerContext } from '../context.ts';
import { removeServicesOfNode } from '../services/remove.ts';
import { evaluated, evaluateNode, type NodeEvaluated, storedNode } from './evaluate.ts';

/**
 * Forgets a node at once. What ran there is lost, and the evaluations that this makes put it
 * somewhere else. A node that still runs has to be introduced again, and then ends what it has.
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
