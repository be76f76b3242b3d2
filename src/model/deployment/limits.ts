import { minuteMs, secondMs } from '../../base/units.ts';

export const deploymentLimits = {
  /** What turns healthy within this time is one step of its deployment. */
  batchMs: 1 * secondMs,
  /** How long looks at deployments hold others up. */
  sliceMs: 1,
  /** Deadlines are looked at this often at least, as the machine's clock may jump. */
  recheckMs: 1 * minuteMs,
} as const;
