/**
 * An allocation may wait for a time, and for the follow-up evaluation due then. Clocks jump, and an
 * evaluation may end without dealing with the allocation; so an allocation never counts as waiting
 * for an evaluation that has ended.
 * Source: docs/behaviour/scheduling.md#reconciliation, #rescheduling.
 */
import type { Allocation } from '../model/allocation/allocation.ts';

/** The evaluation that is being decided, its time, and the state of other evaluations. */
export interface EvaluationContext {
  readonly evaluationId: string;
  /** Unix ms. */
  readonly nowMs: number;
  /** Whether the evaluation has ended, or no evaluation has the id. */
  readonly isOver: (evaluationId: string) => boolean;
}

type Waiting = Pick<Allocation, 'FollowupEvalID'>;

/**
 * Not in limits: a rule of the scheduler. A time this close counts as due: a follow-up evaluation
 * would cost more.
 */
const soonMs = 1000;

/** Whether the time has come, or this is the evaluation that the allocation waits for. */
export const isDue = (
  { FollowupEvalID }: Waiting,
  dueMs: number,
  { nowMs, evaluationId }: EvaluationContext,
): boolean => dueMs <= nowMs + soonMs || FollowupEvalID === evaluationId;

/** Whether a later evaluation will deal with the allocation. */
export const hasReminder = (
  { FollowupEvalID }: Waiting,
  { evaluationId, isOver }: EvaluationContext,
): boolean => FollowupEvalID !== '' && FollowupEvalID !== evaluationId && !isOver(FollowupEvalID);
