import type { Evaluation } from '../../../model/evaluation/evaluation.ts';
import type { EvaluationOutcome } from '../../../scheduler/view.ts';
import { evaluations, inNamespace } from '../../../state/tables.ts';
import type { Transaction } from '../../../state/types.ts';
import type { ServerContext } from '../../context.ts';
import { cancelAll } from './cancel.ts';

/**
 * Cancels blocked evaluations of a job that no longer wait for anything, now that another
 * evaluation of the job is decided. The evaluation of a failed allocation of a system job cancels none:
 * it asks for no room on nodes where an allocation has ended, and a blocked evaluation may wait for just that room.
 * Source: docs/behaviour/evaluations.md#statuses.
 */
export function settleBlocked(
  transaction: Transaction,
  world: ServerContext['world'],
  by: Evaluation,
  { status, blockedEvaluationId, awaitedNodes }: EvaluationOutcome,
): void {
  const placedAll = status === 'complete' && blockedEvaluationId === '';
  const awaited = new Set(awaitedNodes ?? []);
  if (awaitedNodes === undefined ? !placedAll : by.TriggeredBy === 'alloc-failure') return;
  const range = { prefix: inNamespace(by.Namespace, by.JobID) };
  const superfluous = [...transaction.table(evaluations).by('open').scan(range)].filter(
    (one) => one.Status === 'blocked' && one.ID !== by.ID && !awaited.has(one.NodeID),
  );
  const done =
    awaited.size === 0 ? 'placed everything' : 'placed all that there was room for on its node';
  cancelAll(transaction, { world }, superfluous, `canceled after evaluation "${by.ID}" ${done}`);
}
