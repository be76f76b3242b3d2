import { mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/** Bounds of the web interface. */
export const uiLimits = {
  /** All files of the interface together, which stay in memory once somebody has opened it. */
  filesBytesMax: 64 * mebibyte,
  labelLengthMax: 32,
  /** A browser opens six connections for the files of a page, and would keep them for minutes. */
  keepAliveMs: 1 * secondMs,
  /** In a checkout: the time that a request waits for the files before it is told that they are being made. */
  filesWaitMs: 1 * secondMs,
  /** In a checkout: the time after which the making of the files is given up. */
  filesMakeMs: 5 * minuteMs,
} as const;
