import { kibibyte, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/** The cost of rendering the templates of a task. */
export const templateLimits = {
  textLengthMax: 256 * kibibyte,
  nestingMax: 100,
  stepsMax: 1_000_000,
  callStepsMax: 250_000,
  sizeMax: 16 * mebibyte,
  outputLengthMax: 4 * mebibyte,
  depthMax: 200,
  dependenciesMax: 256,
  /** How long rendering goes on before others get their turn. */
  sliceMs: 3,
  /** How long further changes are waited for where a template does not say. */
  waitMinMs: 5 * secondMs,
  waitMaxMs: 4 * minuteMs,
  /** Reading services and variables. */
  pollWaitMs: 5 * minuteMs,
  retriesMax: 12,
  retryMinMs: 250,
  retryMaxMs: 1 * minuteMs,
  /** Between two questions of which the first changed nothing. */
  idleMs: 1 * secondMs,
  /** When the task is told what is missing, and at most how long until it is told again. */
  missingFirstMs: 3 * secondMs,
  missingMaxMs: 10 * minuteMs,
  missingToldMax: 3,
  /** Files that templates read are looked at this often. */
  filePollMs: 5 * secondMs,
  fileBytesMax: 4 * mebibyte,
  /** Output of a change script that the event keeps. */
  scriptOutputMax: 512,
} as const;
