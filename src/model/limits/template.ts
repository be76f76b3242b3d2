import { kibibyte, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/** Bounds of rendering the templates of a task. */
export const templateLimits = {
  textLengthMax: 256 * kibibyte,
  nestingMax: 100,
  stepsMax: 1_000_000,
  callStepsMax: 250_000,
  sizeMax: 16 * mebibyte,
  outputLengthMax: 4 * mebibyte,
  depthMax: 200,
  dependenciesMax: 256,
  /** The time after which rendering gives others a turn. */
  sliceMs: 3,
  /** The wait for further changes, if a template names none. */
  waitMinMs: 5 * secondMs,
  waitMaxMs: 4 * minuteMs,
  /** Reads of services and variables. */
  pollWaitMs: 5 * minuteMs,
  retriesMax: 12,
  retryMinMs: 250,
  retryMaxMs: 1 * minuteMs,
  /** The wait between two reads, if the first brought no change. */
  idleMs: 1 * secondMs,
  /** The first event about missing values, and the longest interval between two such events. */
  missingFirstMs: 3 * secondMs,
  missingMaxMs: 10 * minuteMs,
  missingToldMax: 3,
  /** The interval at which files are checked that templates read. */
  filePollMs: 5 * secondMs,
  fileBytesMax: 4 * mebibyte,
  /** Output of a change script that the event keeps. */
  scriptOutputMax: 512,
} as const;
