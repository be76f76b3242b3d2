/**
 * What each allocation of a group means for the group as it is wanted now: the first matching line
 * of `classify` decides. Source: facts/scheduler.md §6.3 steps 4, 6 and 7, §6.13, §6.14.
 */
import type { Allocation } from '../model/allocation/allocation.ts';
import { isClientTerminal, isServerTerminal } from '../model/allocation/allocation-rules.ts';
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { decideReschedule } from './reschedule.ts';

export type Standing =
  /** Over, or stopped already: nothing is to be done about it. */
  | { readonly kind: 'ignored' }
  /** Stopped already, but its node will not say that it ended. */
  | { readonly kind: 'vanished' }
  /** Runs, or is to: counts. */
  | { readonly kind: 'kept' }
  /** Ended well, or failed for good: counts, and is left as it is. */
  | { readonly kind: 'settled' }
  | { readonly kind: 'migrating' }
  | { readonly kind: 'lost' }
  /** Away with its node, and not to be replaced: counts. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'reschedule-now'; readonly delayNs: number }
  /** Failed, and counts until it is due. */
  | { readonly kind: 'reschedule-later'; readonly dueMs: number };

export interface ClassifyContext {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly nodeOf: (id: string) => Node | undefined;
  /** Whether the group has changed so that only a new allocation takes it up. */
  readonly isOutdated: (allocation: Allocation) => boolean;
  readonly nowMs: number;
  readonly evaluationId: string;
}

export function classify(allocation: Allocation, context: ClassifyContext): Standing {
  const { job, group } = context;
  const node = context.nodeOf(allocation.NodeID);
  const isGone = isNodeGone(node, group);
  if (isServerTerminal(allocation)) {
    return { kind: isGone && !isClientTerminal(allocation) ? 'vanished' : 'ignored' };
  }
  if (allocation.ClientStatus === 'lost') return { kind: 'ignored' };
  if (allocation.ClientStatus === 'complete') return standingOfComplete(allocation, job);
  if (allocation.ClientStatus === 'failed') return standingOfFailed(allocation, context);
  if (isGone) return standingOfGone(allocation, node, group);
  if (allocation.DesiredTransition.Migrate === true) return { kind: 'migrating' };
  const { Reschedule, ForceReschedule } = allocation.DesiredTransition;
  if (Reschedule === true || ForceReschedule === true) return standingOfFailed(allocation, context);
  return { kind: 'kept' };
}

/** Same registration, same version. */
export const isCurrent = (allocation: Allocation, job: Job): boolean =>
  allocation.JobVersion === job.Version && allocation.JobCreateIndex === job.CreateIndex;

/** A disconnected node may come back; only groups that allow for that wait for it. */
export const isNodeGone = (node: Node | undefined, group: TaskGroup | undefined): boolean =>
  node === undefined ||
  node.Status === 'down' ||
  (node.Status === 'disconnected' && !((group?.Disconnect?.LostAfter ?? 0) > 0));

function standingOfGone(
  allocation: Allocation,
  node: Node | undefined,
  group: TaskGroup,
): Standing {
  const mayReturn = node !== undefined && group.Disconnect?.Replace === false;
  const ran = allocation.ClientStatus === 'running' || allocation.ClientStatus === 'unknown';
  return { kind: mayReturn && ran ? 'unknown' : 'lost' };
}

/** A batch job is done with what completed; of a service nothing is ever done. */
const standingOfComplete = (allocation: Allocation, job: Job): Standing =>
  job.Type === 'batch' && isCurrent(allocation, job) ? { kind: 'settled' } : { kind: 'ignored' };

function standingOfFailed(allocation: Allocation, context: ClassifyContext): Standing {
  const { job, group, nowMs, evaluationId } = context;
  if (!isCurrent(allocation, job)) {
    if (job.Type === 'batch' && isClientTerminal(allocation)) return { kind: 'ignored' };
    // What failed under the old version says nothing of the new one.
    if (context.isOutdated(allocation)) return { kind: 'kept' };
  }
  const decision = decideReschedule(allocation, group.ReschedulePolicy, nowMs, evaluationId);
  switch (decision.when) {
    case 'now':
      return { kind: 'reschedule-now', delayNs: decision.delayNs };
    case 'later':
      return { kind: 'reschedule-later', dueMs: decision.dueMs };
    default:
      return { kind: 'settled' };
  }
}
