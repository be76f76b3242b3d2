import { nanosecondsPerMillisecond } from '../../base/duration.ts';
import { delay } from '../../base/ports.ts';
import * as events from './events.ts';
import { decideRestart, type RestartCause, restartsOnSuccess } from './restart-policy.ts';
import type { TaskContext } from './task-context.ts';
import type { TaskRecord } from './task-record.ts';

/** The decision after the end of a run or a failed start. */
export type NextRun =
  | { readonly kind: 'restart' }
  | { readonly kind: 'dead'; readonly failed: boolean; readonly event: events.EventAt | undefined };

/** Asks the restart policy, and notes the next run in the record. */
export function planNextRun(
  context: TaskContext,
  record: TaskRecord,
  cause: RestartCause,
): NextRun {
  const { random, clock } = context.world;
  const task = context.task();
  const decision = decideRestart({
    policy: task.RestartPolicy,
    tracker: record.tracker ?? { count: 0, windowStartMs: clock.nowMs() },
    cause,
    restartsOnSuccess: restartsOnSuccess(context.job(), task),
    nowMs: clock.nowMs(),
    jitter: random.fraction(),
  });
  if (decision.kind !== 'restart') {
    const failed = decision.kind === 'fail';
    const event = failed ? events.notRestarting(decision.reason) : undefined;
    return { kind: 'dead', failed, event };
  }
  record.tracker = decision.tracker;
  record.restartAtMs = clock.nowMs() + decision.delayMs;
  record.phase = 'waiting';
  const delayNs = decision.delayMs * nanosecondsPerMillisecond;
  record.emit(events.restarting(decision.reason, delayNs));
  record.noteRestart();
  return { kind: 'restart' };
}

export async function waitForRestart(
  { world }: TaskContext,
  { restartAtMs }: TaskRecord,
  over: AbortSignal,
): Promise<void> {
  await delay(world.timers, Math.max(0, restartAtMs - world.clock.nowMs()), over);
}
