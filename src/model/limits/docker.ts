import { minuteMs, secondMs } from '../../base/units.ts';

export const dockerLimits = {
  pingTimeoutMs: 5 * secondMs,
  versionTimeoutMs: 30 * secondMs,
  /** The interval at which a node checks its container runtime. */
  refreshMs: 15 * secondMs,
  /** The interval at which a node asks for a runtime that is away. */
  reconnectMs: 1 * secondMs,
  /**
   * The time without an answer of the runtime after which its tasks are given up. Their containers are removed later.
   */
  unreachableTimeoutMs: 5 * minuteMs,
  pullTimeoutMs: 5 * minuteMs,
  /** The interval of events about a running download: a task keeps few events. */
  pullProgressIntervalMs: 30 * secondMs,
  logRetryMs: 1 * secondMs,
  /** The shortest interval of reads for new output, if the runtime cannot stream it. */
  logPollMs: 250,
  logPollMaxMs: 5 * secondMs,
  /** The interval at which a node notes how much of a container's output is written. */
  logNoteIntervalMs: 1 * secondMs,
  /** Output of a container that a runtime keeps as a buffer for the task's logs. */
  logBufferMb: 100,
} as const;
