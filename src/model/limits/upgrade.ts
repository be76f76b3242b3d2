import { hourMs, secondMs } from '../../base/units.ts';

/** Bounds of the upgrade of several servers. */
export const upgradeLimits = {
  /** Between two looks of the leader at the other servers. */
  lookMs: 10 * secondMs,
  /** A server that was seen within this time may come back with its program. */
  seenMs: 24 * hourMs,
  /** How old the stored time may be at which a connected server was seen. */
  refreshMs: hourMs,
  /** Servers that are remembered. */
  serversMax: 64,
} as const;
