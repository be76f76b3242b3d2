/**
 * Classifies each allocation of a group by what it means for the group's current specification. The
 * first matching line of `classify` decides.
 * Source: docs/behaviour/scheduling.md#reconciliation, #rescheduling.
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
  /** Ended or stopped already: no action. */
  | { readonly kind: 'ignored' }
  /** Stopped already, but its node is gone and will not report the end. */
  | { readonly kind: 'vanished' }
  /** Runs or will run: counts. */
  | { readonly kind: 'kept' }
  /** Completed, or failed permanently: counts, and is left as it is. */
  | { readonly kind: 'settled' }
  | { readonly kind: 'migrating' }
  | { readonly kind: 'lost' }
  /** Lost, but its node may still run it for a while: its place stays reserved. */
  | { readonly kind: 'awaited' }
  /** Completed or evicted, and not replaced yet. */
  | { readonly kind: 'ended' }
  /** Away with its node. Counts, unless a replacement runs meanwhile. */
  | { readonly kind: 'unknown'; readonly isReplaced: boolean }
  | { readonly kind: 'reschedule-now'; readonly delayNs: number }
  /** Failed, and counts until due; without `dueMs` a follow-up evaluation exists already. */
  | { readonly kind: 'reschedule-later'; readonly dueMs: number | undefined };

export type Classified = { readonly allocation: Allocation; readonly standing: Standing };

/** Whether the allocation counts towards the group's `Count`. */
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
  /** The running deployment of the current version; `''`: none. */
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
  // The node is back, but has not reported the allocation yet.
  if (allocation.ClientStatus === 'unknown') return unknown(group);
  const { Reschedule, ForceReschedule } = allocation.DesiredTransition;
  if (Reschedule === true || ForceReschedule === true) return standingOfFailed(allocation, context);
  return { kind: 'kept' };
}

/** Whether the allocation is of the job's registration and version. */
export const isCurrent = (allocation: Allocation, job: Job): boolean =>
  allocation.JobVersion === job.Version && allocation.JobCreateIndex === job.CreateIndex;

/** Whether `left` is of a later registration or version of the job. */
export const isNewer = (left: Allocation, right: Allocation): boolean =>
  left.JobCreateIndex > right.JobCreateIndex ||
  (left.JobCreateIndex === right.JobCreateIndex && left.JobVersion > right.JobVersion);

export const isAway = (node: Node | undefined): node is undefined | Node =>
  node === undefined || node.Status === 'down' || node.Status === 'disconnected';

/** A disconnected node is gone too, unless the group waits for it. */
export const isNodeGone = (node: Node | undefined, group: TaskGroup | undefined): boolean =>
  isAway(node) && !(node?.Status === 'disconnected' && lostAfterMs(group) > 0);

/** How long a group waits for a disconnected node; 0: not at all. */
export const lostAfterMs = (group: TaskGroup | undefined): number =>
  instantToMs(group?.Disconnect?.LostAfter ?? 0);

/** When an `unknown` allocation became unknown, in Unix ms. */
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

/** Whether the job's tasks are meant to end by themselves. */
export const runsOut = ({ Type }: Pick<Job, 'Type'>): boolean =>
  Type === 'batch' || Type === 'sysbatch';

/** A completed batch allocation is done; a completed service allocation has to run again. */
function standingOfComplete(allocation: Allocation, job: Job): Standing {
  if (runsOut(job)) return { kind: isCurrent(allocation, job) ? 'settled' : 'ignored' };
  return { kind: isUnreplaced(allocation, job) ? 'ended' : 'ignored' };
}

/**
 * An evicted allocation has to run elsewhere. A lost allocation whose node may still run it is replaced only
 * when `StopOnClientAfter` has passed.
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

/** When a `lost` allocation was given up, in Unix ms. */
export function lostSinceMs({ AllocStates, ModifyTime }: Allocation): number {
  const marked = AllocStates?.findLast((state) => state.Value === 'lost');
  return instantToMs(marked?.Time ?? ModifyTime);
}

/** Whether the allocation has no successor and is of the job's current registration. */
const isUnreplaced = (allocation: Allocation, job: Job): boolean =>
  allocation.NextAllocation === '' && allocation.JobCreateIndex === job.CreateIndex;

function standingOfFailed(allocation: Allocation, context: ClassifyContext): Standing {
  const { job, group, activeDeploymentId } = context;
  // Failures of an earlier registration do not matter to this job.
  if (allocation.JobCreateIndex !== job.CreateIndex && isClientTerminal(allocation)) {
    return { kind: 'ignored' };
  }
  if (!isCurrent(allocation, job) && runsOut(job) && isClientTerminal(allocation)) {
    return { kind: 'ignored' };
  }
  const { Reschedule, ForceReschedule } = allocation.DesiredTransition;
  const isWatched =
    allocation.DeploymentID !== '' && allocation.DeploymentID === activeDeploymentId;
  // The deployment watcher decides about failures within a running deployment.
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
