import { minuteMs, secondMs } from '../../base/units.ts';

export const deploymentLimits = {
  /** Allocations that turn healthy within this time are one step of their deployment. */
  batchMs: 1 * secondMs,
  /** How long looks at deployments hold others up. */
  sliceMs: 1,
  /** Deadlines are looked at this often at least, as the machine's clock may jump. */
  recheckMs: 1 * minuteMs,
} as const;
