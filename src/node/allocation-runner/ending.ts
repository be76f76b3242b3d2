import { durationMs } from '../../base/duration.ts';
import { delay, type Timers } from '../../base/ports.ts';
import type { Task } from '../../model/task/task.ts';
import * as events from '../task-runner/events.ts';
import type { TaskRunner } from '../task-runner/task-runner.ts';
import { type EndReason, endingRounds } from './stages.ts';

export interface ShutdownDelay {
  readonly timers: Timers;
  readonly delayNs: number;
  readonly runners: readonly TaskRunner[];
  /** Aborted to skip the delay, also while it lasts. */
  readonly hurry: AbortSignal;
}

/** During the delay, clients that have not seen the deregistration still get answers. */
export async function waitShutdownDelay(wait: ShutdownDelay): Promise<void> {
  const { timers, delayNs, runners, hurry } = wait;
  const alive = runners.filter(({ state }) => state.State === 'running');
  if (delayNs === 0 || alive.length === 0) return;
  const event = hurry.aborted
    ? events.skippingShutdownDelay
    : events.waitingForShutdownDelay(delayNs);
  for (const task of alive) task.note(event);
  await delay(timers, durationMs(delayNs), hurry);
}

export interface Ending {
  readonly tasks: readonly Task[];
  readonly runners: ReadonlyMap<string, TaskRunner>;
  /** Absent when the servers asked for it. */
  readonly reason: EndReason | undefined;
}

/** Ends all tasks except poststop tasks, in rounds. Resolves when they are dead. */
export async function endInRounds(ending: Ending): Promise<void> {
  const { tasks, runners, reason } = ending;
  for (const round of endingRounds(tasks)) {
    await Promise.all(
      round.map((name) => {
        const task = tasks.find(({ Name }) => Name === name)!;
        const event = reason && eventOf(reason, name);
        return runners.get(name)?.kill({
          ...(event && { reason: event }),
          shutdownDelayMs: durationMs(task.ShutdownDelay),
        });
      }),
    );
  }
}

function eventOf(reason: EndReason, task: string): events.EventAt | undefined {
  if (reason.kind === 'leader-dead') return events.leaderDead;
  if (reason.kind === 'main-tasks-dead') return events.mainTasksDead;
  if (reason.kind === 'max-run-duration') return events.maxRunDurationPassed(reason.duration);
  if (reason.kind === 'no-contact') return events.noContact(reason.duration);
  return reason.task === task ? undefined : events.siblingFailed(reason.task);
}
