import { mebibyte, minuteMs } from '../../base/units.ts';

/** Bounds of plans. */
export const planLimits = {
  /** Plans that are kept: their number, their size together, and their age. */
  keptMax: 512,
  keptBytesMax: 64 * mebibyte,
  keptMs: 30 * minuteMs,
  /** A plan that is carried out exactly is a single transaction. A larger plan is shown, and is not kept. */
  exactChangesMax: 2000,
  /** Changes in an answer. */
  shownMax: 2000,
  /** Plans that wait for their turn. */
  waitingMax: 64,
  /** The content of a single plan that is kept. A larger plan is shown, and is not kept. */
  contentBytesMax: 4 * mebibyte,
  /** Rounds of a drain that are foretold. */
  wavesMax: 64,
  /** Blocked evaluations that are decided to foretell what an eligible node takes. */
  blockedMax: 64,
  /** Services whose discovery chains are compared, and chains in an answer. */
  chainsComparedMax: 1000,
  chainsShownMax: 64,
  /** Differences of records, and changed intentions, in an answer. */
  differencesMax: 500,
  /** How many times a plan is decided again when the state changes while it is carried out. */
  attemptsMax: 5,
} as const;
