import { kibibyte, secondMs } from '../../base/units.ts';

/** The stream that a node opens to the server, and its sub-streams. */
export const streamLimits = {
  perNodeMax: 256,
  creditBytes: 256 * kibibyte,
  frameBytesMax: 64 * kibibyte,
  logFollowersPerTaskMax: 32,
  pingIntervalMs: 15 * secondMs,
  pongTimeoutMs: 30 * secondMs,
  reconnectMinMs: 250,
  reconnectMaxMs: 15 * secondMs,
  openTimeoutMs: 10 * secondMs,
} as const;
