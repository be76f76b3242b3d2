/**
 * What an allocation waits for: a time, and the evaluation that comes back to it by then. Clocks jump,
 * and an evaluation may end without having done anything for it; so it is never said to wait for one
 * that is over. Source: docs/behaviour/scheduling.md#reconciliation, #rescheduling.
 */
import type { Allocation } from '../model/allocation/allocation.ts';

/** One look at a job: the evaluation that takes it, when, and what is known of other evaluations. */
export interface EvaluationContext {
  readonly evaluationId: string;
  /** Unix ms. */
  readonly nowMs: number;
  /** Whether nothing more comes of an evaluation, or there is none of the id. */
  readonly isOver: (evaluationId: string) => boolean;
}

type Waiting = Pick<Allocation, 'FollowupEvalID'>;

/** What is due this soon is not worth an evaluation of its own. */
const soonMs = 1000;

/** Whether its time has come; the evaluation that it waits for may be a little early. */
export const isDue = (
  { FollowupEvalID }: Waiting,
  dueMs: number,
  { nowMs, evaluationId }: EvaluationContext,
): boolean => dueMs <= nowMs + soonMs || FollowupEvalID === evaluationId;

/** Whether an evaluation that is still to come, after this one, comes back to it. */
export const hasReminder = (
  { FollowupEvalID }: Waiting,
  { evaluationId, isOver }: EvaluationContext,
): boolean => FollowupEvalID !== '' && FollowupEvalID !== evaluationId && !isOver(FollowupEvalID);
