/**
 * What each allocation of a group means for the group as it is wanted now: the first matching line
 * of `classify` decides. Source: docs/behaviour/scheduling.md#reconciliation, #rescheduling.
 */

import { instantToMs } from '../../base/instant.ts';
import { filtered, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isClientTerminal, isServerTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import { runsEverywhere } from '../../model/job/job-rules.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { decideReschedule } from '../reschedule.ts';
import { type EvaluationContext, isDue } from '../waiting.ts';

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
  /** Lost, but its node may still run it for a while: its place is kept. */
  | { readonly kind: 'awaited' }
  /** Over or evicted, and nobody has its place yet. */
  | { readonly kind: 'ended' }
  /** Away with its node. Counts, unless another one is to run in its place meanwhile. */
  | { readonly kind: 'unknown'; readonly isReplaced: boolean }
  | { readonly kind: 'reschedule-now'; readonly delayNs: number }
  /** Failed, and counts until it is due; without `dueMs` an evaluation waits for that already. */
  | { readonly kind: 'reschedule-later'; readonly dueMs: number | undefined };

export type Classified = { readonly allocation: Allocation; readonly standing: Standing };

/** Whether it is one of those that the group has. */
export const counts = (standing: Standing): boolean =>
  countingKinds.has(standing.kind) || (standing.kind === 'unknown' && !standing.isReplaced);

const countingKinds: ReadonlySet<Standing['kind']> = new Set([
  'kept',
  'settled',
  'migrating',
  'reschedule-now',
  'reschedule-later',
]);

export const ofKind = (
  classified: readonly Classified[],
  kind: Standing['kind'],
): Steps<readonly Classified[]> => filtered(classified, ({ standing }) => standing.kind === kind);

export interface ClassifyContext extends EvaluationContext {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly nodeOf: (id: string) => Node | undefined;
  /** The deployment that brings the current version; `''` when none is under way. */
  readonly activeDeploymentId: string;
}

export function classify(allocation: Allocation, context: ClassifyContext): Standing {
  const { job, group } = context;
  const node = context.nodeOf(allocation.NodeID);
  const isGone = isNodeGone(node, group);
  if (isServerTerminal(allocation)) {
    if (isGone && !isClientTerminal(allocation)) return { kind: 'vanished' };
    return standingOfStopped(allocation, context);
  }
  if (allocation.ClientStatus === 'lost') return { kind: 'ignored' };
  if (allocation.ClientStatus === 'complete') return standingOfComplete(allocation, job);
  if (allocation.ClientStatus === 'failed') return standingOfFailed(allocation, context);
  if (isExpired(allocation, context)) return { kind: 'lost' };
  if (isAway(node)) return standingOfAway(allocation, node, group);
  if (allocation.DesiredTransition.Migrate === true) return { kind: 'migrating' };
  // Its node is back, and has not told of it yet.
  if (allocation.ClientStatus === 'unknown') return unknown(group);
  const { Reschedule, ForceReschedule } = allocation.DesiredTransition;
  if (Reschedule === true || ForceReschedule === true) return standingOfFailed(allocation, context);
  return { kind: 'kept' };
}

/** Same registration, same version. */
export const isCurrent = (allocation: Allocation, job: Job): boolean =>
  allocation.JobVersion === job.Version && allocation.JobCreateIndex === job.CreateIndex;

/** Of a later version, or of a later registration of the job. */
export const isNewer = (left: Allocation, right: Allocation): boolean =>
  left.JobCreateIndex > right.JobCreateIndex ||
  (left.JobCreateIndex === right.JobCreateIndex && left.JobVersion > right.JobVersion);

export const isAway = (node: Node | undefined): node is undefined | Node =>
  node === undefined || node.Status === 'down' || node.Status === 'disconnected';

/** A disconnected node may come back; only groups that allow for that wait for it. */
export const isNodeGone = (node: Node | undefined, group: TaskGroup | undefined): boolean =>
  isAway(node) && !(node?.Status === 'disconnected' && lostAfterMs(group) > 0);

/** How long a group waits for what is away; 0: not at all. */
export const lostAfterMs = (group: TaskGroup | undefined): number =>
  instantToMs(group?.Disconnect?.LostAfter ?? 0);

/** Unix ms since when nobody has heard of it; only for those that are `unknown`. */
export function unknownSinceMs({ AllocStates, ModifyTime }: Allocation): number {
  const marked = AllocStates?.findLast((state) => state.Value === 'unknown');
  return instantToMs(marked?.Time ?? ModifyTime);
}

function isExpired(allocation: Allocation, context: ClassifyContext): boolean {
  const waitMs = lostAfterMs(context.group);
  if (allocation.ClientStatus !== 'unknown' || waitMs === 0) return false;
  return isDue(allocation, unknownSinceMs(allocation) + waitMs, context);
}

const unknown = (group: TaskGroup): Standing => ({
  kind: 'unknown',
  isReplaced: group.Disconnect?.Replace !== false,
});

function standingOfAway(
  { ClientStatus }: Allocation,
  node: Node | undefined,
  group: TaskGroup,
): Standing {
  if (node === undefined || ClientStatus === 'pending') return { kind: 'lost' };
  const isAwaited = node.Status === 'disconnected' && lostAfterMs(group) > 0;
  return isAwaited || group.Disconnect?.Replace === false ? unknown(group) : { kind: 'lost' };
}

/** Whether it comes to an end by itself. */
export const runsOut = ({ Type }: Pick<Job, 'Type'>): boolean =>
  Type === 'batch' || Type === 'sysbatch';

/** A batch job is done with what completed; a service never is. */
function standingOfComplete(allocation: Allocation, job: Job): Standing {
  if (runsOut(job)) return { kind: isCurrent(allocation, job) ? 'settled' : 'ignored' };
  return { kind: isUnreplaced(allocation, job) ? 'ended' : 'ignored' };
}

/**
 * What made way for others is to run elsewhere. What was lost while its node may still run it is
 * replaced only when that is over for sure.
 */
function standingOfStopped(allocation: Allocation, context: ClassifyContext): Standing {
  const { job, group } = context;
  if (allocation.DesiredStatus === 'evict' && !runsEverywhere(job)) {
    return { kind: isUnreplaced(allocation, job) ? 'ended' : 'ignored' };
  }
  const graceNs = group.Disconnect?.StopOnClientAfter ?? null;
  const isWaiting = allocation.ClientStatus === 'lost' && allocation.FollowupEvalID !== '';
  if (graceNs === null || !isWaiting || !isUnreplaced(allocation, job)) return { kind: 'ignored' };
  const dueMs = lostSinceMs(allocation) + instantToMs(graceNs);
  return { kind: isDue(allocation, dueMs, context) ? 'ended' : 'awaited' };
}

/** Unix ms since when it is given up; only for those that are `lost`. */
export function lostSinceMs({ AllocStates, ModifyTime }: Allocation): number {
  const marked = AllocStates?.findLast((state) => state.Value === 'lost');
  return instantToMs(marked?.Time ?? ModifyTime);
}

/** Nobody took its place, and the job is still the one that it was placed for. */
const isUnreplaced = (allocation: Allocation, job: Job): boolean =>
  allocation.NextAllocation === '' && allocation.JobCreateIndex === job.CreateIndex;

function standingOfFailed(allocation: Allocation, context: ClassifyContext): Standing {
  const { job, group, activeDeploymentId } = context;
  // What a job of the same id did before it was purged is no business of this one.
  if (allocation.JobCreateIndex !== job.CreateIndex && isClientTerminal(allocation)) {
    return { kind: 'ignored' };
  }
  if (!isCurrent(allocation, job) && runsOut(job) && isClientTerminal(allocation)) {
    return { kind: 'ignored' };
  }
  const { Reschedule, ForceReschedule } = allocation.DesiredTransition;
  const isWatched =
    allocation.DeploymentID !== '' && allocation.DeploymentID === activeDeploymentId;
  // Whether a deployment goes on after a failure is decided by who watches over it.
  if (isWatched && Reschedule !== true && ForceReschedule !== true) return { kind: 'settled' };
  const decision = decideReschedule(allocation, group.ReschedulePolicy, context);
  switch (decision.when) {
    case 'now':
      return { kind: 'reschedule-now', delayNs: decision.delayNs };
    case 'later':
      return { kind: 'reschedule-later', dueMs: decision.dueMs };
    case 'awaited':
      return { kind: 'reschedule-later', dueMs: undefined };
    default:
      return { kind: isClientTerminal(allocation) ? 'settled' : 'kept' };
  }
}
