import { secondMs } from '../../base/units.ts';

/** Bounds of the readers of an agent. */
export const readerLimits = {
  /** A reader that has ended is started again after this time. */
  restartMs: secondMs,
  /** The time in which a reader ends by itself when the agent does. */
  endMs: 5 * secondMs,
  /** The time for an answer of another thread about itself. */
  answerMs: 5 * secondMs,
  /** Between two looks at a link that does not take more. */
  lookAgainMs: 5,
} as const;
