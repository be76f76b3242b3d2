import { secondMs } from '../../base/units.ts';

export const tracingLimits = {
  /** Open evaluations, and allocations that have not started. The oldest are forgotten, and have no spans then. */
  evaluationsMax: 4_096,
  allocationsMax: 16_384,
  /** The interval of metrics that are sent to a collector. */
  metricsIntervalMs: 30 * secondMs,
  /** A collector has to answer within this time, repetitions included, and an agent that ends waits so long. */
  collectorMs: 3 * secondMs,
} as const;
