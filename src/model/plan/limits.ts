import { kibibyte, mebibyte, minuteMs } from '../../base/units.ts';

/** Plans of registrations. */
export const planLimits = {
  /** Plans that can still be carried out: how many, their size together, and how long. */
  keptMax: 256,
  keptBytesMax: 64 * mebibyte,
  /** About what one of their changes takes. */
  changeBytes: 1 * kibibyte,
  keptMs: 30 * minuteMs,
  /** Carried out exactly, it is one transaction. A larger one is shown, and is not kept. */
  exactChangesMax: 2000,
  /** Changes that one answer tells. */
  shownMax: 2000,
  /** Plans that wait for their turn. */
  waitingMax: 64,
  /** How often one is decided again when the state moves while it is carried out. */
  attemptsMax: 5,
} as const;
