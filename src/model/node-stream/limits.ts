import { kibibyte, secondMs } from '../../base/units.ts';

/** Bounds of the connection from a node to the server, and of its streams. */
export const streamLimits = {
  perNodeMax: 256,
  creditBytes: 256 * kibibyte,
  frameBytesMax: 64 * kibibyte,
  /** Sent frames of a connection whose memory is kept for the next ones: as many as the credit of a stream allows. */
  spareFramesMax: 4,
  logFollowersPerTaskMax: 32,
  pingIntervalMs: 15 * secondMs,
  pongTimeoutMs: 30 * secondMs,
  reconnectMinMs: 250,
  reconnectMaxMs: 15 * secondMs,
  /** The first pause is at least this part of the time between heartbeats, which grows with the fleet. */
  reconnectsPerTtl: 80,
  openTimeoutMs: 10 * secondMs,
} as const;
