/**
 * Whether and when a failed allocation is placed again.
 * Source: docs/behaviour/scheduling.md#rescheduling.
 */
import { instantFromMs, instantToMs } from '../base/instant.ts';
import type { Allocation, RescheduleTracker } from '../model/allocation/allocation.ts';
import type { ReschedulePolicy } from '../model/task-group/policies.ts';
import { descriptions } from './view.ts';
import { type EvaluationContext, hasReminder, isDue } from './waiting.ts';

export type RescheduleDecision =
  | { readonly when: 'now'; readonly delayNs: number }
  | { readonly when: 'later'; readonly dueMs: number }
  /** Later, and a follow-up evaluation exists already. */
  | { readonly when: 'awaited' }
  | { readonly when: 'never' };

type Event = NonNullable<RescheduleTracker['Events']>[number];

/** Not in limits: a rule of the scheduler. Events kept if the policy has no interval. */
const unlimitedEventsKept = 5;

export const isEnabled = (policy: ReschedulePolicy | null): policy is ReschedulePolicy =>
  policy !== null && (policy.Unlimited || policy.Attempts > 0);

const eventsOf = (allocation: Allocation): readonly Event[] =>
  allocation.RescheduleTracker?.Events ?? [];

/**
 * When the allocation failed: when its last task ended, else when it last changed. A node's clock may
 * be ahead, so the result is never later than the last change.
 */
export function failedAtMs(allocation: Allocation): number {
  const ends = Object.values(allocation.TaskStates)
    .map((state) => Date.parse(state.FinishedAt ?? ''))
    // The API's zero time stands for "not yet".
    .filter((end) => end > 0);
  const knownMs = instantToMs(allocation.ModifyTime);
  return ends.length > 0 ? Math.min(Math.max(...ends), knownMs) : knownMs;
}

/** The delay before the next attempt, in nanoseconds like the policy's durations. */
export function nextDelayNs(allocation: Allocation, policy: ReschedulePolicy): number {
  const events = eventsOf(allocation);
  const last = events.at(-1);
  if (last === undefined || policy.DelayFunction === 'constant') return policy.Delay;
  const following =
    policy.DelayFunction === 'fibonacci'
      ? nextFibonacci(events.at(-2), last, policy.Delay)
      : last.Delay * 2;
  // Servers before 0.13.0 noted forced reschedules with a delay of 0, which never grows.
  const grown = Math.max(following, policy.Delay);
  if (policy.MaxDelay <= 0 || grown < policy.MaxDelay) return grown;
  const ranMs = failedAtMs(allocation) - instantToMs(last.RescheduleTime);
  const wasCapped = last.Delay >= policy.MaxDelay;
  return wasCapped && instantFromMs(ranMs) > policy.MaxDelay ? policy.Delay : policy.MaxDelay;
}

/** The first two delays are the base delay, also after the sequence restarts. */
const nextFibonacci = (before: Event | undefined, last: Event, base: number): number =>
  before === undefined || before.Delay > last.Delay ? base : before.Delay + last.Delay;

const attemptsWithin = (allocation: Allocation, policy: ReschedulePolicy): number => {
  const since = instantFromMs(failedAtMs(allocation)) - policy.Interval;
  return eventsOf(allocation).filter((event) => event.RescheduleTime > since).length;
};

/** Whether the allocation carries the note that its node is away. */
export const isMarkedUnknown = ({ DesiredDescription }: Allocation): boolean =>
  DesiredDescription === descriptions.unknown;

/** Whether the failed allocation is placed again, now or later. */
export const isTriedAgain = (allocation: Allocation, policy: ReschedulePolicy | null): boolean =>
  isForced(allocation) || isAllowed(allocation, policy);

const isForced = ({ DesiredTransition }: Allocation): boolean =>
  DesiredTransition.ForceReschedule === true;

const isAllowed = (
  allocation: Allocation,
  policy: ReschedulePolicy | null,
): policy is ReschedulePolicy =>
  isEnabled(policy) && (policy.Unlimited || attemptsWithin(allocation, policy) < policy.Attempts);

export function decideReschedule(
  allocation: Allocation,
  policy: ReschedulePolicy | null,
  context: EvaluationContext,
): RescheduleDecision {
  // A forced attempt counts as an attempt, so that the delays go on after it.
  if (isForced(allocation)) {
    const hasDelay = policy !== null && isEnabled(policy);
    return { when: 'now', delayNs: hasDelay ? nextDelayNs(allocation, policy) : 0 };
  }
  if (!isAllowed(allocation, policy)) return { when: 'never' };
  const delayNs = nextDelayNs(allocation, policy);
  const dueMs = failedAtMs(allocation) + instantToMs(delayNs);
  // While the node was away, the noted evaluation was to come at the end of that time, not after this delay.
  const waiting = { FollowupEvalID: isMarkedUnknown(allocation) ? '' : allocation.FollowupEvalID };
  if (isDue(waiting, dueMs, context)) return { when: 'now', delayNs };
  return hasReminder(waiting, context) ? { when: 'awaited' } : { when: 'later', dueMs };
}

/** The replacement's tracker: the recent events of the old tracker, and the new event. */
export function trackerOfReplacement(
  failed: Allocation,
  policy: ReschedulePolicy | null,
  nowMs: number,
  delayNs: number,
): RescheduleTracker {
  const now = instantFromMs(nowMs);
  const events = eventsOf(failed);
  const kept =
    policy !== null && !policy.Unlimited && policy.Interval > 0
      ? events.filter((event) => event.RescheduleTime > now - policy.Interval)
      : events.slice(-(unlimitedEventsKept - 1));
  const event: Event = {
    RescheduleTime: now,
    PrevAllocID: failed.ID,
    PrevNodeID: failed.NodeID,
    Delay: delayNs,
  };
  return { Events: [...kept, event], LastReschedule: 'ok' };
}

/** Ids of nodes on which the allocation and its predecessors failed. */
export const nodesOfFailures = (failed: Allocation): ReadonlySet<string> =>
  new Set([failed.NodeID, ...eventsOf(failed).map((event) => event.PrevNodeID)]);
