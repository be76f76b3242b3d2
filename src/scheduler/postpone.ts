/**
 * Follow-up evaluations for allocations that are not due yet: failed allocations whose delay still runs, and
 * allocations whose node is away. Source: docs/behaviour/scheduling.md#reconciliation, #rescheduling.
 */
import { instantFromMs } from '../base/instant.ts';
import type { Ids } from '../base/ports.ts';
import type { Evaluation } from '../model/evaluation/evaluation.ts';
import type { PlannedStop } from '../model/plan/plan.ts';
import { type FollowUp, followUpEvaluation } from './build.ts';
import type { Postponed } from './decision.ts';
import { descriptions, type Proposed } from './view.ts';

/** Not in limits: a rule of the scheduler. Allocations due within this time share an evaluation. */
const windowMs = 5000;

export interface Postponements {
  readonly evaluations: readonly Proposed<Evaluation>[];
  /** Notes on each allocation the evaluation that it waits for. */
  readonly stops: readonly PlannedStop[];
}

/**
 * Each evaluation runs when the last allocation of its window is due, so that it finds all of them
 * due.
 */
export function postponements(
  postponed: readonly Postponed[],
  { ids, ...origin }: Omit<FollowUp, 'id'> & { readonly ids: Ids },
): Postponements {
  const evaluations: Proposed<Evaluation>[] = [];
  const stops: PlannedStop[] = [];
  for (const cause of ['reschedule', 'disconnect'] as const) {
    const due = postponed.filter((one) => one.cause === cause).sort((a, b) => a.dueMs - b.dueMs);
    windowsOf(due).forEach((window, position) => {
      const id = ids.uuid();
      const WaitUntil = instantFromMs(window.at(-1)!.dueMs);
      const reason = reasonOf(cause, position === 0);
      evaluations.push(followUpEvaluation({ id, ...origin }, { ...reason, WaitUntil }));
      for (const { stop } of window) stops.push({ ...stop, followupEvaluationId: id });
    });
  }
  return { evaluations, stops };
}

/** Splits the list, sorted by due time, into windows. */
function windowsOf(due: readonly Postponed[]): readonly (readonly Postponed[])[] {
  const windows: Postponed[][] = [];
  for (const one of due) {
    const window = windows.at(-1);
    if (window === undefined || one.dueMs > window[0]!.dueMs + windowMs) windows.push([one]);
    else window.push(one);
  }
  return windows;
}

const reasonOf = (
  cause: Postponed['cause'],
  isFirst: boolean,
): Pick<Evaluation, 'TriggeredBy' | 'StatusDescription'> =>
  cause === 'disconnect'
    ? {
        TriggeredBy: 'max-disconnect-timeout',
        StatusDescription: descriptions.disconnectTimeout,
      }
    : {
        TriggeredBy: isFirst ? 'alloc-reschedule' : 'alloc-failure',
        StatusDescription: descriptions.delayedReschedule,
      };
