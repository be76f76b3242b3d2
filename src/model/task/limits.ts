import { hourMs, kibibyte, secondMs } from '../../base/units.ts';

export const taskLimits = {
  cpuMhzMin: 1,
  memoryMbMin: 10,
  diskMbMin: 10,
  eventsKept: 10,
  eventMessageLengthMax: 1024,
  killTimeoutMaxMs: 30 * secondMs,
  logFilesMax: 1000,
  logFileMbMax: 10_000,
  /** Users and groups of the system. */
  ownerIdMax: 2 ** 32 - 2,
  /** Bytes of a variable with its name, as the kernel bounds them. */
  variableBytesMax: 128 * kibibyte - 1,
  /** Processes and threads of a task together, if the system can limit them. */
  processesMax: 4096,
} as const;

export const restartLimits = {
  /** Random part of a task's restart delay, as a fraction of it, so that tasks do not start in step. */
  jitterFraction: 0.25,
  delayMaxMs: 24 * hourMs,
} as const;
