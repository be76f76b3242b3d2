import { kibibyte, mebibyte, secondMs } from '../../base/units.ts';

export const supervisorLimits = {
  messageBytesMax: 1 * mebibyte,
  tasksMax: 2000,
  /** Exits kept for an agent that is away. */
  exitsKept: 10_000,
  /** Long enough for a busy machine, as at its start. */
  startTimeoutMs: 30 * secondMs,
  pipeBufferBytes: 64 * kibibyte,
} as const;
