import {
  Choice,
  Flag,
  Instant,
  List,
  type Model,
  Nanoseconds,
  Nullable,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';

/**
 * An event of a task. `Details` has the same data as strings; newer readers use it.
 * Source: docs/contract/jobs.md#records-of-a-job.
 */
export const TaskEventSchema = Type.Object({
  Type: Text(),
  Time: Instant(),
  DisplayMessage: Text(),
  Details: TextMap(),
  Message: Text(),
  FailsTask: Flag(),
  RestartReason: Text(),
  SetupError: Text(),
  DriverError: Text(),
  DriverMessage: Text(),
  ExitCode: Whole(),
  Signal: Whole(),
  KillTimeout: Nanoseconds(),
  KillError: Text(),
  KillReason: Text(),
  StartDelay: Nanoseconds(),
  DownloadError: Text(),
  ValidationError: Text(),
  DiskLimit: Whole(),
  FailedSibling: Text(),
  SecretsError: Text(),
  TaskSignalReason: Text(),
  TaskSignal: Text(),
});
export type TaskEvent = Model<typeof TaskEventSchema>;

/**
 * The types of task events that Roster makes. Source: docs/behaviour/allocations.md#task-states-and-events.
 */
export const taskEventTypes = {
  received: 'Received',
  taskSetup: 'Task Setup',
  buildingDirectory: 'Building Task Directory',
  setupFailure: 'Setup Failure',
  failedValidation: 'Failed Validation',
  downloadingArtifacts: 'Downloading Artifacts',
  failedArtifactDownload: 'Failed Artifact Download',
  hookFailed: 'Task hook failed',
  hookMessage: 'Task hook message',
  driverFailure: 'Driver Failure',
  driver: 'Driver',
  started: 'Started',
  terminated: 'Terminated',
  restarting: 'Restarting',
  notRestarting: 'Not Restarting',
  restartSignaled: 'Restart Signaled',
  signaling: 'Signaling',
  killing: 'Killing',
  killed: 'Killed',
  siblingFailed: 'Sibling Task Failed',
  leaderDead: 'Leader Task Dead',
  mainTasksDead: 'Main Tasks Dead',
  failedRestoring: 'Failed Restoring Task',
  reconnected: 'Reconnected',
  waitingForShutdownDelay: 'Waiting for shutdown delay',
  skippingShutdownDelay: 'Skipping shutdown delay',
  allocationUnhealthy: 'Alloc Unhealthy',
} as const;

export const taskStateWords = ['pending', 'running', 'dead'] as const;

/** Source: docs/contract/jobs.md#records-of-a-job. `StartedAt` and `FinishedAt` are RFC 3339. */
export const TaskStateSchema = Type.Object({
  State: Choice(taskStateWords, 'pending'),
  Failed: Flag(),
  Restarts: Whole({ minimum: 0 }),
  LastRestart: Nullable(Type.String()),
  StartedAt: Nullable(Type.String()),
  FinishedAt: Nullable(Type.String()),
  Paused: Text(),
  Events: List(TaskEventSchema),
});
export type TaskState = Model<typeof TaskStateSchema>;
