import { minuteMs, secondMs } from '../../base/units.ts';

export const dockerLimits = {
  pingTimeoutMs: 5 * secondMs,
  versionTimeoutMs: 30 * secondMs,
  /** How often a node looks whether its container runtime is there and well. */
  refreshMs: 15 * secondMs,
  /** While a runtime is away it is asked so often whether it is back. */
  reconnectMs: 1 * secondMs,
  /** A task whose runtime has not answered for so long is given up, and its container later removed. */
  unreachableTimeoutMs: 5 * minuteMs,
  pullTimeoutMs: 5 * minuteMs,
  /** A download that goes on is told of so often: a task keeps few events. */
  pullProgressIntervalMs: 30 * secondMs,
  logRetryMs: 1 * secondMs,
  /** Where a runtime cannot be followed it is asked so often for new output, or less often. */
  logPollMs: 250,
  logPollMaxMs: 5 * secondMs,
  /** How often it is noted how much of a container's output is written. */
  logNoteIntervalMs: 1 * secondMs,
  /** Output of a container that a runtime keeps, as a buffer for the task's logs. */
  logBufferMb: 100,
} as const;
