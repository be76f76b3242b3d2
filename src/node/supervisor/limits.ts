/** Bounds and times of the supervisor and its client that no caller or operator meets. */

export const clientLimits = {
  /** Between checks whether a supervisor listens or has ended. */
  dialIntervalMs: 10,
  shutdownGraceMs: 5000,
  /** Long, as ending a silent supervisor ends all its tasks, and a busy machine may only be slow. */
  helloTimeoutMs: 10_000,
  reconnectMinMs: 100,
  reconnectMaxMs: 10_000,
  /** How long a supervisor stays without tasks and without an agent. */
  idleTimeoutMs: 60_000,
};

export const collectorLimits = {
  /** Garbage is collected when no task has started or ended for so long. */
  restMs: 5000,
};

export const orphanLimits = {
  /** The time that tasks get to end after their agent has gone, if they must end with it. */
  graceMs: 2000,
};

export const startLimits = {
  /** Starts in one turn of the event loop. Each blocks this process until the child has loaded its program. */
  perTurn: 10,
};

export const birthLimits = {
  /** A run that may have more processes does not make them all in the moment in which this process is in its groups. */
  fewProcesses: 256,
};

export const pipeLimits = {
  /** Named pipes that one `mkfifo` makes while tasks start. Each start takes two. */
  batchSize: 64,
  /** Named pipes that wait, at most, for the next burst of starts. */
  keptMax: 256,
  /** The pipes of the next burst are made when no task has started for so long. */
  restMs: 500,
};

/** Memory for waiting output. */
export const blockLimits = {
  /** Up to this much output gets memory of its own; more gets a block that is reused. */
  smallBytes: 8 * 1024,
  keptMax: 16,
};

export const logWriterLimits = {
  flushIntervalMs: 100,
  /** Between writes on a full disk. After all retries output is dropped, and the log tells it. */
  retryDelayMs: 500,
  retriesMax: 10,
};

export const outputLimits = {
  /** After an end, a process that keeps the output open for longer is not part of the task. */
  drainTimeoutMs: 2000,
};

export const cgroupLimits = {
  /** Attempts to remove a group whose processes are being killed. */
  removalsMax: 400,
  removalDelayMs: 5,
  /** Older groups without processes are stale, as a run joins its groups at once. */
  staleMs: 60_000,
};

export const holdLimits = {
  /** Searches for processes that a stopped one has started, as it may start others all the time. */
  roundsMax: 20,
};

export const sweepLimits = {
  /** A fork bomb may outrun the sweep: then the rest is left to the next sweep. */
  roundsMax: 50,
  roundDelayMs: 5,
};

export const sandboxLimits = {
  pollMs: 2,
  /** Making a sandbox takes milliseconds: longer means that the machine has stalled. */
  startTimeoutMs: 10_000,
};
