/** Bounds and times of the node that no caller or operator meets. The others: `src/model/limits.ts`. */

export const agentLimits = {
  /** For the last reports of an agent that ends. */
  stopGraceMs: 1000,
  /** For a server to take the new description of a node; shorter than `limits.node.commandTimeoutMs`. */
  describedWithinMs: 10_000,
  /** Allocations whose tasks have not all started. The oldest are forgotten, and have no spans then. */
  tracedAllocationsMax: 4_096,
  /** Allocations whose directories are made at the same time. */
  startedTogether: 8,
  /** Allocations that are over are removed when none has begun for so long. More than `overMax` are never kept. */
  collectRestMs: 3000,
  overMax: 200,
};

export const spareLimits = {
  /** Directories of allocations, and of tasks, that wait at most for the next burst of starts. */
  keptMax: 128,
  /** Spares are made when none has been taken for so long: while allocations begin and end, the disk has enough to do. */
  restMs: 3000,
};

export const reportLimits = {
  /** Batches without a pause after a quiet time. */
  burst: 10,
  /** Later batches go at one in this time. */
  paceMs: 20,
  /** Between attempts. */
  retryMinMs: 100,
  retryMaxMs: 10_000,
};

export const changeWatchLimits = {
  /** Watches may miss changes, and some file systems have none: files are looked at this often. */
  pollIntervalMs: 500,
  /** The time without a change after which a reader is told that nothing is new. */
  quietIntervalMs: 10_000,
};

/** The newest bytes that a virtual node keeps of what a task prints. */
export const virtualLogLimits = { bytesMax: 2 ** 20 };

export const contentTypeLimits = {
  /** Bytes at the beginning of a file that decide on its content type. */
  sniffedBytes: 512,
};

/** When a driver cannot end a run. */
export const killLimits = {
  attemptsMax: 5,
  firstDelayMs: 5_000,
  delayMaxMs: 120_000,
};

export const uidLimits = {
  /** A range has at least this many slices, so that as many agents find room in it. */
  slicesMin: 256,
  sliceMax: 4096,
  /** Much longer than another agent's transaction in the registry takes. */
  registryWaitMs: 5000,
};

/** A command that enters a sandbox whose program has not begun tries again. */
export const enterLimits = { attemptsMax: 100, retryDelayMs: 10 };

export const isolationProbeLimits = { timeoutMs: 10_000 };

export const containerExecLimits = {
  pollMs: 50,
  resizeTriesMax: 10,
  /** Then a runtime that calls the command running after its output has ended is not believed. */
  endTriesMax: 200,
};

export const imageUserLimits = { passwdBytesMax: 2 ** 20 };

export const containerLogLimits = {
  /** Runtimes cut lines into much smaller pieces, so a larger frame is no log. */
  frameBytesMax: 16 * 2 ** 20,
};

export const kernelLogLimits = {
  recordBytesMax: 8192,
  /** More records than a kernel's buffer has. */
  recordsMax: 200_000,
};

export const pullProgressLimits = { lineBytesMax: 2 ** 20 };

export const grpcProbeLimits = { messageBytesMax: 1024 };
