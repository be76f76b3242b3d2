import type { World } from '../../base/ports.ts';
import { refusal } from '../../model/errors.ts';
import type { EvaluationTrigger } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { isReadyNode, type Node } from '../../model/node/node.ts';
import { everyNode } from '../../model/node-pool/node-pool.ts';
import { compileGlob } from '../../scheduler/fitting/feasibility.ts';
import { allocations, inNamespace, jobs, nodes } from '../../state/tables.ts';
import type { Snapshot, Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import {
  createEvaluation,
  evaluatedJob,
  type NewEvaluation,
} from '../scheduling/create-evaluation.ts';

type Ports = Pick<World, 'clock' | 'ids'>;

/**
 * The answer to a change of a node. Source: docs/behaviour/nodes.md#eligibility-evaluation-purge.
 */
export interface NodeEvaluated {
  readonly EvalIDs: readonly string[];
  /** 0: no evaluation was made. */
  readonly EvalCreateIndex: number;
  readonly NodeModifyIndex: number;
  readonly Index: number;
}

export const evaluated = (
  EvalIDs: readonly string[],
  NodeModifyIndex: number,
  Index: number,
): NodeEvaluated => ({
  EvalIDs,
  EvalCreateIndex: EvalIDs.length === 0 ? 0 : Index,
  NodeModifyIndex,
  Index,
});

/**
 * Makes an evaluation for every job with allocations on the node, even if they are only being
 * stopped: on a node that is down only the scheduler ends them. If the node takes work, also for
 * the jobs that run on every node. Returns the ids of the evaluations.
 * Source: docs/behaviour/evaluations.md#triggers.
 */
export function evaluateNode(
  transaction: Transaction,
  world: Ports,
  nodeId: string,
  triggeredBy: EvaluationTrigger = 'node-update',
): string[] {
  const node = transaction.table(nodes).get(nodeId);
  if (node === undefined) return [];
  const affected = new Map<string, NewEvaluation['job']>();
  const occupants = transaction.table(allocations).by('occupant');
  for (const allocation of occupants.scan({ prefix: [nodeId] })) {
    const key = inNamespace(allocation.Namespace, allocation.JobID).join('\0');
    if (!affected.has(key)) affected.set(key, evaluatedJob(transaction, allocation));
  }
  if (isReadyNode(node)) {
    for (const job of jobsForEveryNode(transaction, node)) {
      affected.set(inNamespace(job.Namespace, job.ID).join('\0'), job);
    }
  }
  return [...affected.values()].map(
    (job) => createEvaluation(transaction, world, { job, triggeredBy, node }).ID,
  );
}

/** System and sysbatch jobs that may run on this node. */
function* jobsForEveryNode(snapshot: Snapshot, node: Node): Iterable<Job> {
  for (const job of snapshot.table(jobs).by('everywhere').scan()) {
    if (job.NodePool !== everyNode && job.NodePool !== node.NodePool) continue;
    if (job.Datacenters.some((glob) => compileGlob(glob)(node.Datacenter))) yield job;
  }
}

/** Evaluates a node because a caller asks for it. @throws RosterError `node-not-found` */
export async function evaluateNodeNow(
  { state, world }: ServerContext,
  nodeId: string,
): Promise<NodeEvaluated> {
  const { index, value } = await state.write((transaction) => ({
    node: storedNode(transaction, nodeId),
    ids: evaluateNode(transaction, world, nodeId),
  }));
  return evaluated(value.ids, value.node.ModifyIndex, index);
}

/** @throws RosterError `node-not-found` */
export function storedNode(snapshot: Snapshot, nodeId: string): Node {
  const node = snapshot.table(nodes).get(nodeId);
  if (node === undefined) throw refusal('node-not-found', { id: nodeId });
  return node;
}
