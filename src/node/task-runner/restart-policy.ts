/**
 * Whether and when a task runs again after its end or a failed start. Pure.
 * Source: docs/behaviour/client.md#restarts.
 */
import { durationMs, formatDuration, nanosecondsPerMillisecond } from '../../base/duration.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import type { Task } from '../../model/task/task.ts';
import type { RestartPolicy } from '../../model/task-group/policies.ts';

/** Kept between ends. The window begins at the first start. */
export interface RestartTracker {
  readonly count: number;
  readonly windowStartMs: number;
}

export type RestartCause =
  | { readonly kind: 'exit'; readonly successful: boolean }
  | { readonly kind: 'start-failure'; readonly recoverable: boolean };

export type RestartDecision =
  | {
      readonly kind: 'restart';
      readonly reason: string;
      readonly delayMs: number;
      readonly tracker: RestartTracker;
    }
  /** The task has finally failed. */
  | { readonly kind: 'fail'; readonly reason: string }
  /** The task has completed. */
  | { readonly kind: 'complete' };

export interface RestartQuestion {
  readonly policy: RestartPolicy;
  readonly tracker: RestartTracker;
  readonly cause: RestartCause;
  /** Whether another run follows a successful end. */
  readonly restartsOnSuccess: boolean;
  readonly nowMs: number;
  /** From [0, 1): the fraction of the greatest jitter to add. */
  readonly jitter: number;
}

/** True for service and system jobs and for sidecars of any job, but not for poststop tasks. */
export function restartsOnSuccess(job: Pick<Job, 'Type'>, task: Pick<Task, 'Lifecycle'>): boolean {
  const hook = task.Lifecycle?.Hook ?? '';
  if (hook === 'poststop') return false;
  if (hook !== '') return task.Lifecycle?.Sidecar === true;
  return job.Type === 'service' || job.Type === 'system';
}

export function decideRestart(question: RestartQuestion): RestartDecision {
  const { policy, cause, nowMs } = question;
  if (cause.kind === 'exit' && cause.successful && !question.restartsOnSuccess) {
    return { kind: 'complete' };
  }
  if (cause.kind === 'start-failure' && !cause.recoverable) {
    return { kind: 'fail', reason: 'Error was unrecoverable' };
  }
  if (policy.Attempts === 0) return { kind: 'fail', reason: 'Policy allows no restarts' };

  const windowMs = durationMs(policy.Interval);
  const passed = nowMs - question.tracker.windowStartMs > windowMs;
  const before = passed ? { count: 0, windowStartMs: nowMs } : question.tracker;
  const tracker = { ...before, count: before.count + 1 };
  if (tracker.count > policy.Attempts) return exceeded(question, tracker, windowMs);
  const reason = 'Restart within policy';
  const baseMs = Math.min(durationMs(policy.Delay), limits.restart.delayMaxMs);
  const delayMs = Math.round(baseMs * (1 + limits.restart.jitterFraction * question.jitter));
  return { kind: 'restart', reason, delayMs, tracker };
}

function exceeded(
  { policy, nowMs }: RestartQuestion,
  tracker: RestartTracker,
  windowMs: number,
): RestartDecision {
  if (policy.Mode === 'delay') {
    const reason = 'Exceeded allowed attempts, applying a delay';
    const delayMs = Math.max(0, tracker.windowStartMs + windowMs - nowMs);
    return { kind: 'restart', reason, delayMs, tracker };
  }
  const interval = formatDuration(windowMs * nanosecondsPerMillisecond);
  const reason = `Exceeded allowed attempts ${policy.Attempts} in interval ${interval} and mode is "fail"`;
  return { kind: 'fail', reason };
}
