/** Evaluations that place failed allocations when their delay is over. Source: facts §6.3, §6.13. */
import { instantFromMs } from '../base/instant.ts';
import type { Ids } from '../base/ports.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import type { Evaluation } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import type { PlannedStop } from '../model/plan/plan.ts';
import { followUpEvaluation } from './build.ts';
import { descriptions, type Proposed } from './view.ts';

/** What comes due within this time of another shares its evaluation. */
const windowMs = 5000;

export interface Postponements {
  readonly evaluations: readonly Proposed<Evaluation>[];
  /** Tells each allocation which evaluation it waits for; nothing else of it changes. */
  readonly marks: readonly PlannedStop[];
}

export function postponements(
  postponed: readonly { readonly allocation: Allocation; readonly dueMs: number }[],
  evaluation: Evaluation,
  job: Job,
  nowMs: number,
  ids: Ids,
): Postponements {
  const evaluations: Proposed<Evaluation>[] = [];
  const marks: PlannedStop[] = [];
  let windowStartMs = Number.NEGATIVE_INFINITY;
  for (const { allocation, dueMs } of [...postponed].sort((a, b) => a.dueMs - b.dueMs)) {
    if (dueMs > windowStartMs + windowMs) {
      windowStartMs = dueMs;
      evaluations.push(
        followUpEvaluation(ids.uuid(), evaluation, job, nowMs, {
          TriggeredBy: evaluations.length === 0 ? 'alloc-reschedule' : 'alloc-failure',
          StatusDescription: descriptions.delayedReschedule,
          WaitUntil: instantFromMs(dueMs),
        }),
      );
    }
    marks.push({
      allocationId: allocation.ID,
      nodeId: allocation.NodeID,
      desiredStatus: 'run',
      desiredDescription: allocation.DesiredDescription,
      followupEvaluationId: evaluations.at(-1)!.ID,
    });
  }
  return { evaluations, marks };
}
