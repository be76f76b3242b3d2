import { mebibyte, minuteMs, secondMs } from '../../../base/units.ts';

/** Bounds of the decider of an agent. */
export const deciderLimits = {
  /** A decider that has ended is started again after this time. */
  restartMs: secondMs,
  /** A decider that has not answered for so long counts as stuck, and is replaced. */
  answerMs: minuteMs,
  /** A decider that answers none of so many beats (`readerLimits.beatMs`) has hung. It answers none while it decides. */
  silentBeats: 60,
  /** Rows of a plan that are read in one step. */
  rowsOfPart: 200,
  /** Characters of transactions that are gathered before they are sent. */
  gatheredMax: mebibyte,
  /** An agent whose settings do not tell has a decider from so many processors on ... */
  leastProcessors: 4,
  /** ... and from so large a store on: a small state is decided at once. */
  leastStoredBytes: 32 * mebibyte,
} as const;
