import { kibibyte, secondMs } from '../../base/units.ts';

/** Registrations of services, as nodes tell of them. */
export const serviceLimits = {
  /** Allocations that one report tells of, and about how many bytes of them. */
  batchMax: 1000,
  batchBytes: 512 * kibibyte,
  perAllocationMax: 1000,
  /** Tags, and entries of meta, of one instance. */
  entriesMax: 1000,
  textLengthMax: 4096,
  /** Instances that one request may have chosen for it. */
  chosenMax: 10_000,
  /** Changes within this time are told together. */
  batchDelayMs: 50,
  retryMinMs: 100,
  retryMaxMs: 10 * secondMs,
  /** How long a task that ends waits for the servers to know that its services are gone. */
  farewellMs: 500,
} as const;

/** Checks of services, on one node. */
export const checkLimits = {
  /** Checks under way at the same time: of a node, of one allocation, and as commands in tasks. */
  concurrentMax: 256,
  perAllocationMax: 32,
  scriptsMax: 32,
  /** The first one is somewhere in this time, that not all begin together. */
  startSpreadMs: 1 * secondMs,
  outputBytesMax: 4 * kibibyte,
} as const;
