import { kibibyte, secondMs } from '../../base/units.ts';

/** Bounds of live logs. */
export const monitorLimits = {
  /** Readers of the log of one agent. */
  readersMax: 32,
  /** Lines that wait for a reader; further lines are dropped and counted. */
  linesMax: 2_048,
  /** All lines together that wait for a reader. */
  waitingBytesMax: 1_024 * kibibyte,
  /** A silent log sends a frame without lines this often, and the token of its reader is checked. */
  heartbeatMs: 10 * secondMs,
} as const;

/** Bounds of profiles. */
export const profileLimits = {
  secondsMax: 300,
} as const;
