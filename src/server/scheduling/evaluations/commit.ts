import { instantFromMs } from '../../../base/instant.ts';
import { type Evaluation, isTerminalEvaluation } from '../../../model/evaluation/evaluation.ts';
import type { Plan } from '../../../model/plan/plan.ts';
import { isSame } from '../../../model/same.ts';
import { conflictEvaluation } from '../../../scheduler/schedule.ts';
import type { SchedulerResult } from '../../../scheduler/view.ts';
import { evaluations, inNamespace, jobs } from '../../../state/tables.ts';
import type { Transaction } from '../../../state/types.ts';
import type { ServerContext } from '../../context.ts';
import { refreshJobStatus } from '../job-status.ts';
import { setQueued } from '../job-summary.ts';
import { applyPlan, type KnownOccupancies, type NodeRefusal } from '../plans/apply.ts';
import { settleBlocked } from './settle.ts';

/** `unchanged`: the evaluation goes on waiting as before, and nothing was written. */
export type Committed = readonly NodeRefusal[] | 'unchanged';

/** The stored evaluation, unless it has been canceled or its job purged. */
function openEvaluation(transaction: Transaction, { Namespace, ID }: Evaluation) {
  const stored = transaction.table(evaluations).get(...inNamespace(Namespace, ID));
  return stored === undefined || isTerminalEvaluation(stored) ? undefined : stored;
}

export interface CommitOptions extends Pick<ServerContext, 'world'> {
  readonly knownOccupancyOf?: KnownOccupancies;
}

/** Applies a part of a plan that is not the last one. */
export function commitPart(
  transaction: Transaction,
  { world, knownOccupancyOf }: CommitOptions,
  evaluation: Evaluation,
  part: Plan,
): readonly NodeRefusal[] {
  if (openEvaluation(transaction, evaluation) === undefined) return [];
  return applyPlan(transaction, world, part, knownOccupancyOf);
}

/** Applies the last part of a plan, with the outcome of the evaluation. */
export function commitDecision(
  transaction: Transaction,
  { world, knownOccupancyOf }: CommitOptions,
  evaluation: Evaluation,
  { plan, isEmpty, outcome }: SchedulerResult,
): Committed {
  const table = transaction.table(evaluations);
  const { Namespace, JobID } = evaluation;
  const stored = openEvaluation(transaction, evaluation);
  if (stored === undefined) return [];
  const decided = {
    ...stored,
    Status: outcome.status,
    StatusDescription: outcome.statusDescription,
    BlockedEval: outcome.blockedEvaluationId,
    DeploymentID: plan.deployment?.ID ?? stored.DeploymentID,
    FailedTGAllocs: outcome.failures,
    QueuedAllocations: outcome.queued,
    ClassEligibility: outcome.classEligibility,
    EscapedComputedClass: outcome.escapedComputedClass,
  };
  const waitsOn = outcome.status === 'blocked' && isEmpty && plan.evaluations.length === 0;
  if (waitsOn && isSame(stored, decided)) return 'unchanged';
  const refusals = applyPlan(transaction, world, plan, knownOccupancyOf);
  if (refusals.length > 0) return refusals;
  const ModifyTime = instantFromMs(world.clock.nowMs());
  table.put({ ...decided, SnapshotIndex: plan.snapshotIndex, ModifyTime });
  settleBlocked(transaction, world, stored, outcome);
  setQueued(transaction, Namespace, JobID, outcome.queued);
  refreshJobStatus(transaction, Namespace, JobID);
  return [];
}

/** Source: docs/behaviour/evaluations.md#attempts. */
export function failForConflicts(
  transaction: Transaction,
  { world }: ServerContext,
  { Namespace, ID }: Evaluation,
  attempts: number,
): void {
  const table = transaction.table(evaluations);
  const stored = table.get(...inNamespace(Namespace, ID));
  if (stored === undefined || isTerminalEvaluation(stored)) return;
  const { ids, clock } = world;
  const nowMs = clock.nowMs();
  const job = transaction.table(jobs).get(...inNamespace(Namespace, stored.JobID));
  const next = job && table.put(conflictEvaluation(transaction.index, stored, job, { nowMs, ids }));
  table.put({
    ...stored,
    Status: 'failed',
    StatusDescription: `maximum attempts reached (${attempts})`,
    BlockedEval: next?.ID ?? '',
    ModifyTime: instantFromMs(nowMs),
  });
}
