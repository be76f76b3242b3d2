import { allDefences } from '../defences.ts';
import { unfitPlace } from '../directories.ts';
import { DriverFailure, type DriverHandle } from '../drivers/driver.ts';
import { HookFailure } from '../hooks/hook.ts';
import * as events from './events.ts';
import type { RestartCause } from './restart-policy.ts';
import type { RunDirectories } from './run-directories.ts';
import { describeRun, sentenceOf, type TaskContext } from './task-context.ts';
import type { TaskHooks } from './task-hooks.ts';
import type { TaskRecord } from './task-record.ts';

export interface RunStart {
  readonly context: TaskContext;
  readonly record: TaskRecord;
  readonly hooks: TaskHooks;
  readonly directories: RunDirectories;
  /** Aborted when the task is to end. */
  readonly kill: AbortSignal;
  /** Aborted when the agent ends. */
  readonly leave: AbortSignal;
}

export type Started =
  | { readonly kind: 'started'; readonly handle: DriverHandle }
  | { readonly kind: 'killed' }
  | { readonly kind: 'left' }
  | RestartCause;

/** Starts the record's run, after the directories, the hooks and the validation before it. */
export async function startRun(start: RunStart): Promise<Started> {
  const { context, record, hooks, directories, kill, leave } = start;
  try {
    const { driver } = context;
    const { Driver: name, Name } = context.task();
    const { fitNames } = context.defences ?? allDefences;
    const unfit = fitNames ? unfitPlace('task', Name) : undefined;
    if (unfit !== undefined) throw new DriverFailure(unfit, false);
    if (driver === undefined) throw new DriverFailure(`this node has no driver "${name}"`, false);
    await directories.make();
    const added = await hooks.beforeStart();
    if (added === undefined) return { kind: kill.aborted ? 'killed' : 'left' };
    const run = describeRun(context, record.run, added, hooks.volumes);
    const faults = driver.validate(run.config);
    if (faults.length > 0) {
      await hooks.ended();
      record.emit(events.failedValidation(sentenceOf(faults)));
      return { kind: 'start-failure', recoverable: false };
    }
    const { over, note } = hooks.controls;
    const tell = (sentence: string): void => note(events.driverMessage(sentence));
    const handle = await driver.start({ ...run, tell, over });
    record.noteStarted();
    return { kind: 'started', handle };
  } catch (error) {
    await hooks.ended();
    if (leave.aborted) return { kind: 'left' };
    if (kill.aborted) return { kind: 'killed' };
    if (error instanceof HookFailure) {
      record.emit(error.event);
      return { kind: 'start-failure', recoverable: error.recoverable };
    }
    const known = error instanceof DriverFailure;
    const { message } = error as Error;
    record.emit(known ? events.driverFailure(message) : events.setupFailure(message));
    return { kind: 'start-failure', recoverable: !known || error.recoverable };
  }
}
