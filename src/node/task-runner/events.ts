/**
 * The events of a task, each with its message, its details and the flat fields of older clients.
 * `time` is Unix nanoseconds. Source: docs/behaviour/allocations.md#task-states-and-events.
 */
import { formatDuration } from '../../base/duration.ts';
import { taskEvent } from '../../model/allocation/task-event.ts';
import { type TaskEvent, taskEventTypes as types } from '../../model/allocation/task-state.ts';
import { limits } from '../../model/limits.ts';
import type { TaskExit } from '../drivers/driver.ts';

/** An event without its time. */
export type EventAt = (time: number) => TaskEvent;

type Fields = Parameters<typeof taskEvent>[2];

const event =
  (type: string, sentence: string, details: Record<string, string> = {}, fields: Fields = {}) =>
  (time: number): TaskEvent =>
    taskEvent(type, time, { DisplayMessage: short(sentence), Details: details, ...fields });

const short = (sentence: string): string => sentence.slice(0, limits.task.eventMessageLengthMax);

export const received = event(types.received, 'Task received by client');

export const taskSetup = event(
  types.taskSetup,
  'Building Task Directory',
  { message: 'Building Task Directory' },
  { Message: 'Building Task Directory' },
);

export const downloadingArtifacts = event(
  types.downloadingArtifacts,
  'Client is downloading artifacts',
);

export const failedArtifactDownload = (error: string): EventAt =>
  event(types.failedArtifactDownload, error, { download_error: error }, { DownloadError: error });

export const started = event(types.started, 'Task started by client');

export const setupFailure = (error: string): EventAt =>
  event(types.setupFailure, error, { setup_error: error }, { SetupError: error });

export const failedValidation = (error: string): EventAt =>
  event(
    types.failedValidation,
    `Validation of task failed: ${error}`,
    { validation_error: error },
    { ValidationError: error },
  );

export const driverFailure = (error: string): EventAt =>
  event(types.driverFailure, error, { driver_error: error }, { DriverError: error });

/** A driver's message about its work. */
export const driverMessage = (message: string): EventAt =>
  event(types.driver, message, { driver_message: message }, { DriverMessage: message });

export function terminated(exit: TaskExit): EventAt {
  const { exitCode, signal, oomKilled = false, lost, notRun } = exit;
  const message = lost ?? notRun ?? (oomKilled ? 'OOM Killed' : '');
  const sentence = [
    `Exit Code: ${exitCode}`,
    signal === 0 ? '' : `Signal: ${signal}`,
    message === '' ? '' : `Exit Message: "${message}"`,
  ];
  const details = {
    exit_code: String(exitCode),
    signal: String(signal),
    oom_killed: String(oomKilled),
    ...(message !== '' && { exit_message: message }),
  };
  const fields = { ExitCode: exitCode, Signal: signal, Message: message };
  return event(types.terminated, sentence.filter(Boolean).join(', '), details, fields);
}

/** `delay` is in nanoseconds. */
export const restarting = (reason: string, delay: number): EventAt =>
  event(
    types.restarting,
    `Task restarting in ${formatDuration(delay)}`,
    { restart_reason: reason, start_delay: String(delay) },
    { RestartReason: reason, StartDelay: delay },
  );

export const notRestarting = (reason: string): EventAt =>
  event(
    types.notRestarting,
    reason,
    { restart_reason: reason, fails_task: 'true' },
    { RestartReason: reason, FailsTask: true },
  );

export const restartSignaled = (reason: string): EventAt =>
  event(types.restartSignaled, reason, { restart_reason: reason }, { RestartReason: reason });

export const signaling = (signal: string, reason: string): EventAt =>
  event(
    types.signaling,
    `Task being sent signal ${signal}${reason === '' ? '' : `: ${reason}`}`,
    { task_signal: signal, task_signal_reason: reason },
    { TaskSignal: signal, TaskSignalReason: reason },
  );

/** `timeout` is in nanoseconds. */
export const killing = (timeout: number): EventAt =>
  event(
    types.killing,
    `Sent interrupt. Waiting ${formatDuration(timeout)} before force killing`,
    { kill_timeout: formatDuration(timeout) },
    { KillTimeout: timeout },
  );

export const killed = (error = ''): EventAt =>
  event(
    types.killed,
    error === '' ? 'Task successfully killed' : error,
    error === '' ? {} : { kill_error: error },
    { KillError: error },
  );

export const siblingFailed = (sibling: string): EventAt =>
  event(
    types.siblingFailed,
    `Task's sibling "${sibling}" failed`,
    { failed_sibling: sibling },
    { FailedSibling: sibling },
  );

export const leaderDead = event(types.leaderDead, 'Leader Task in Group dead');

export const mainTasksDead = event(types.mainTasksDead, 'Main tasks in the group died');

export const failedRestoring = (reason: string): EventAt =>
  event(types.failedRestoring, `Task could not be restored: ${reason}`, { message: reason });

/** `duration` is in nanoseconds. */
export const maxRunDurationPassed = (duration: number): EventAt => {
  const sentence = `The allocation has run for its max_run_duration of ${formatDuration(duration)}`;
  return event(types.hookMessage, sentence, { message: sentence }, { Message: sentence });
};

/** `duration` is in nanoseconds. */
export const noContact = (duration: number): EventAt => {
  const sentence = `The node had no contact with the servers for the stop_on_client_after of ${formatDuration(duration)}`;
  return event(types.hookMessage, sentence, { message: sentence }, { Message: sentence });
};

/** `delay` is in nanoseconds. */
export const waitingForShutdownDelay = (delay: number): EventAt =>
  event(
    types.waitingForShutdownDelay,
    `Waiting for shutdown_delay of ${formatDuration(delay)} before killing the task.`,
  );

export const skippingShutdownDelay = event(
  types.skippingShutdownDelay,
  'Skipping shutdown_delay before killing the task.',
);

/** Why this task keeps its allocation from being healthy. */
export const allocationUnhealthy = (reason: string): EventAt =>
  event(types.allocationUnhealthy, reason, { message: reason }, { Message: reason });

export const reconnected = event(types.reconnected, 'Client reconnected');

/** A hook's message. */
export const hookMessage = (hook: string, message: string): EventAt =>
  event(types.hookMessage, `${hook}: ${message}`, { message }, { Message: message });

/** A hook has failed. `explained`: the error on several lines. */
export const hookFailed = (hook: string, error: string, explained = error): EventAt =>
  event(types.hookFailed, `${hook}: ${error}`, { message: explained }, { Message: explained });
