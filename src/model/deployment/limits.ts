import { minuteMs, secondMs } from '../../base/units.ts';

export const deploymentLimits = {
  /** Allocations that become healthy within this time are one step of their deployment. */
  batchMs: 1 * secondMs,
  /** The longest time for which a check of deployments blocks other work. */
  sliceMs: 1,
  /** Deadlines are checked at least this often, as the machine's clock may jump. */
  recheckMs: 1 * minuteMs,
} as const;
