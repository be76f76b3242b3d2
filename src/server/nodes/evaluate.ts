import type { World } from '../../base/ports.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import { allocations, inNamespace, jobs, nodes } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import { createEvaluation } from '../evaluations/create.ts';

/** Asks the scheduler to look at every job that has something on the node. */
export function evaluateJobsOnNode(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
  nodeId: string,
): number {
  const node = transaction.table(nodes).get(nodeId);
  if (node === undefined) return 0;
  const affected = new Set<string>();
  for (const allocation of transaction
    .table(allocations)
    .by('node')
    .scan({ prefix: [nodeId] })) {
    if (isTerminal(allocation)) continue;
    affected.add(JSON.stringify(inNamespace(allocation.Namespace, allocation.JobID)));
  }
  for (const key of affected) {
    const job = transaction.table(jobs).get(...(JSON.parse(key) as string[]));
    // A purged job's allocations are stopped by the evaluation that its purge made.
    if (job === undefined) continue;
    createEvaluation(transaction, world, { job, triggeredBy: 'node-update', node });
  }
  return affected.size;
}
