/** Whether and when a failed allocation is placed again. Source: facts/scheduler.md §2.4, §6.13. */
import { instantFromMs, instantToMs } from '../base/instant.ts';
import type { Allocation, RescheduleTracker } from '../model/allocation/allocation.ts';
import type { ReschedulePolicy } from '../model/task-group/policies.ts';
import { descriptions } from './view.ts';

export type RescheduleDecision =
  | { readonly when: 'now'; readonly delayNs: number }
  | { readonly when: 'later'; readonly dueMs: number }
  /** Later, and an evaluation for it exists already. */
  | { readonly when: 'awaited' }
  | { readonly when: 'never' };

type Event = NonNullable<RescheduleTracker['Events']>[number];

/** What is due this soon is not worth an evaluation of its own. */
const soonMs = 1000;

/** Events kept where there is no interval to count in. */
const unlimitedEventsKept = 5;

export const isEnabled = (policy: ReschedulePolicy | null): policy is ReschedulePolicy =>
  policy !== null && (policy.Unlimited || policy.Attempts > 0);

const eventsOf = (allocation: Allocation): readonly Event[] =>
  allocation.RescheduleTracker?.Events ?? [];

/** When it failed: when its last task ended, else when it last changed. */
export function failedAtMs(allocation: Allocation): number {
  const ends = Object.values(allocation.TaskStates)
    .map((state) => Date.parse(state.FinishedAt ?? ''))
    // The zero time of the contract stands for "not yet".
    .filter((end) => end > 0);
  return ends.length > 0 ? Math.max(...ends) : instantToMs(allocation.ModifyTime);
}

/** Durations in nanoseconds, as the policy has them. */
export function nextDelayNs(allocation: Allocation, policy: ReschedulePolicy): number {
  const events = eventsOf(allocation);
  const last = events.at(-1);
  if (last === undefined || policy.DelayFunction === 'constant') return policy.Delay;
  const grown =
    policy.DelayFunction === 'fibonacci'
      ? nextFibonacci(events.at(-2), last, policy.Delay)
      : last.Delay * 2;
  if (policy.MaxDelay <= 0 || grown < policy.MaxDelay) return grown;
  const ranMs = failedAtMs(allocation) - instantToMs(last.RescheduleTime);
  const wasCapped = last.Delay >= policy.MaxDelay;
  return wasCapped && instantFromMs(ranMs) > policy.MaxDelay ? policy.Delay : policy.MaxDelay;
}

/** The first two are the base, as are the two after the sequence started over. */
const nextFibonacci = (before: Event | undefined, last: Event, base: number): number =>
  before === undefined || before.Delay > last.Delay ? base : before.Delay + last.Delay;

const attemptsWithin = (allocation: Allocation, policy: ReschedulePolicy): number => {
  const since = instantFromMs(failedAtMs(allocation)) - policy.Interval;
  return eventsOf(allocation).filter((event) => event.RescheduleTime > since).length;
};

/** It was away, and nobody has noted yet that it is back. */
export const isMarkedUnknown = ({ DesiredDescription }: Allocation): boolean =>
  DesiredDescription === descriptions.unknown;

/** Whether its time has come; the evaluation that it waits for may be a little early. */
export const isDue = (
  { FollowupEvalID }: Pick<Allocation, 'FollowupEvalID'>,
  dueMs: number,
  nowMs: number,
  evaluationId: string,
): boolean => dueMs <= nowMs + soonMs || (FollowupEvalID !== '' && FollowupEvalID === evaluationId);

export function decideReschedule(
  allocation: Allocation,
  policy: ReschedulePolicy | null,
  nowMs: number,
  evaluationId: string,
): RescheduleDecision {
  if (allocation.DesiredTransition.ForceReschedule === true) return { when: 'now', delayNs: 0 };
  if (!isEnabled(policy)) return { when: 'never' };
  if (!policy.Unlimited && attemptsWithin(allocation, policy) >= policy.Attempts) {
    return { when: 'never' };
  }
  const delayNs = nextDelayNs(allocation, policy);
  const dueMs = failedAtMs(allocation) + instantToMs(delayNs);
  // What it waited for while it was away is another matter.
  const waiting = { FollowupEvalID: isMarkedUnknown(allocation) ? '' : allocation.FollowupEvalID };
  if (isDue(waiting, dueMs, nowMs, evaluationId)) return { when: 'now', delayNs };
  return waiting.FollowupEvalID === '' ? { when: 'later', dueMs } : { when: 'awaited' };
}

/** The tracker of the replacement: what is still of interest of the old events, and the new one. */
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

/** Nodes on which it failed before. */
export const nodesOfFailures = (failed: Allocation): ReadonlySet<string> =>
  new Set([failed.NodeID, ...eventsOf(failed).map((event) => event.PrevNodeID)]);
