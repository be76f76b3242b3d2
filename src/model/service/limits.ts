import { kibibyte, minuteMs, secondMs } from '../../base/units.ts';

/** Bounds of the registrations of services by nodes. */
export const serviceLimits = {
  /** Allocations in a report, and their approximate size. */
  batchMax: 1000,
  batchBytes: 512 * kibibyte,
  perAllocationMax: 1000,
  /** Tags, and entries of meta, of an instance. */
  entriesMax: 1000,
  textLengthMax: 4096,
  /** Instances that a request may have chosen for it. */
  chosenMax: 10_000,
  /** Changes within this time are reported together. */
  batchDelayMs: 50,
  retryMinMs: 100,
  retryMaxMs: 10 * secondMs,
  /** A node reports all its services again after at most this time. */
  repeatMs: 5 * minuteMs,
  /** How long an ending task waits until the servers have deregistered its services. */
  farewellMs: 500,
} as const;

/** Bounds of the checks of services on a node. */
export const checkLimits = {
  /** Checks under way at the same time: on a node, of an allocation, and as commands in tasks. */
  concurrentMax: 256,
  perAllocationMax: 32,
  scriptsMax: 32,
  /** The first check begins at a random time within this, so that not all checks begin together. */
  startSpreadMs: 1 * secondMs,
  outputBytesMax: 4 * kibibyte,
} as const;
