import { refusal } from '../../model/errors.ts';
import type { Eligibility } from '../../model/node/node.ts';
import type { ActContext } from '../context.ts';
import { evaluated, evaluateNode, type NodeEvaluated, storedNode } from './evaluate.ts';
import { changeNode } from './status.ts';

/**
 * Allows or forbids the scheduler to place on the node. Running allocations go on.
 * Source: docs/behaviour/scheduling.md#candidate-nodes.
 * @throws RosterError `node-not-found`, or `node-draining` for a node that is draining
 */
export async function setEligibility(
  { state, world }: ActContext,
  nodeId: string,
  eligibility: Eligibility,
): Promise<NodeEvaluated> {
  const { index, value } = await state.write((transaction) => {
    const node = storedNode(transaction, nodeId);
    if (eligibility === 'eligible' && node.Drain) throw refusal('node-draining', { node: nodeId });
    if (node.SchedulingEligibility === eligibility) return { node, ids: [] };
    const message = `Node marked as ${eligibility} for scheduling`;
    const changed = changeNode(transaction, world.clock.nowMs(), node, {
      fields: { SchedulingEligibility: eligibility },
      message,
      subsystem: 'Cluster',
    });
    const ids = eligibility === 'eligible' ? evaluateNode(transaction, world, nodeId) : [];
    return { node: changed, ids };
  });
  return evaluated(value.ids, value.node.ModifyIndex, index);
}
