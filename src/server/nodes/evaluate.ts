import type { World } from '../../base/ports.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { limits } from '../../model/limits.ts';
import { allocations, evaluations, inNamespace, jobs, nodes } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import { createEvaluation, type NewEvaluation } from '../evaluations/create.ts';

/**
 * Asks the scheduler to look at every job that has something on the node, be it only something
 * that is being stopped: when the node is down, nobody else ends that.
 */
export function evaluateJobsOnNode(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
  nodeId: string,
): number {
  const node = transaction.table(nodes).get(nodeId);
  if (node === undefined) return 0;
  const occupants = transaction.table(allocations).by('occupant');
  const affected = new Map<string, Allocation>();
  for (const allocation of occupants.scan({ prefix: [nodeId] })) {
    affected.set(inNamespace(allocation.Namespace, allocation.JobID).join('\0'), allocation);
  }
  for (const allocation of affected.values()) {
    const job = jobOf(transaction, allocation);
    createEvaluation(transaction, world, { job, triggeredBy: 'node-update', node });
  }
  return affected.size;
}

/** A job that was purged is told of by the evaluation that placed what is left of it. */
function jobOf(
  transaction: Transaction,
  { Namespace, JobID, EvalID }: Allocation,
): NewEvaluation['job'] {
  const job = transaction.table(jobs).get(...inNamespace(Namespace, JobID));
  if (job !== undefined) return job;
  const evaluation = transaction.table(evaluations).get(...inNamespace(Namespace, EvalID));
  return {
    ID: JobID,
    Namespace,
    Type: evaluation?.Type ?? 'service',
    Priority: evaluation?.Priority ?? limits.job.priorityDefault,
    JobModifyIndex: evaluation?.JobModifyIndex ?? 0,
  };
}
