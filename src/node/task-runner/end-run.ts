import { durationMs, nanosecondsPerMillisecond } from '../../base/duration.ts';
import { delay } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { DriverHandle } from '../drivers/driver.ts';
import { killLimits } from '../limits.ts';
import * as events from './events.ts';
import type { TaskContext } from './task-context.ts';
import type { TaskRecord } from './task-record.ts';

/** Ends a run: with the task's signal first, and by force after its kill timeout. */
export async function stopRun(context: TaskContext, handle: DriverHandle): Promise<void> {
  const { KillSignal } = context.task();
  const signal = KillSignal || (context.driver?.defaultKillSignal ?? 'SIGTERM');
  await handle.stop(signal, killTimeoutMs(context));
}

const killTimeoutMs = ({ task }: TaskContext): number =>
  Math.min(durationMs(task().KillTimeout), limits.task.killTimeoutMaxMs);

export interface ShutdownDelay {
  readonly context: TaskContext;
  readonly record: TaskRecord;
  readonly delayMs: number;
  /** Aborted to skip the delay. */
  readonly hurry: AbortSignal;
  /** The agent goes. */
  readonly leave: AbortSignal;
}

/** Clients that still call the task get an answer during the delay. */
export async function waitShutdownDelay(wait: ShutdownDelay): Promise<void> {
  const { context, record, delayMs, hurry, leave } = wait;
  if (delayMs > 0 && hurry.aborted) {
    record.emit(events.skippingShutdownDelay);
  } else if (delayMs > 0 && !leave.aborted) {
    record.emit(events.waitingForShutdownDelay(delayMs * nanosecondsPerMillisecond));
    record.change({ State: 'pending' });
    await delay(context.world.timers, delayMs, AbortSignal.any([leave, hurry]));
  }
}

export interface KilledRun {
  readonly context: TaskContext;
  readonly record: TaskRecord;
  readonly handle: DriverHandle;
  /** The agent goes. */
  readonly leave: AbortSignal;
}

/** While the run goes on and the driver fails to end it, tries again with growing pauses. */
export async function killRun({ context, record, handle, leave }: KilledRun): Promise<void> {
  record.emit(events.killing(killTimeoutMs(context) * nanosecondsPerMillisecond));
  const ended = new AbortController();
  void handle.exited.then(() => ended.abort());
  const over = AbortSignal.any([leave, ended.signal]);
  for (let attempt = 1, waitMs = killLimits.firstDelayMs; ; attempt++) {
    try {
      return await stopRun(context, handle);
    } catch (error) {
      if (over.aborted) return;
      record.emit(events.killed(`the task could not be killed: ${(error as Error).message}`));
      if (attempt === killLimits.attemptsMax) return;
    }
    await delay(context.world.timers, waitMs, over);
    if (over.aborted) return;
    waitMs = Math.min(waitMs * 2, killLimits.delayMaxMs);
  }
}
