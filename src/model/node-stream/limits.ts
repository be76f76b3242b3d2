import { kibibyte, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/**
 * The most bytes of a stream in a frame that is sent: with its id (4 bytes) and the head of a masked WebSocket message (8) it
 * is as long as the 64 KiB that Node reads of a socket at once. A longer message is put together from two reads: a copy, and
 * twice the garbage.
 */
const sentFrameBytes = 64 * kibibyte - 12;

/** Bounds of the connection from a node to the server, and of its streams. */
export const streamLimits = {
  perNodeMax: 256,
  sentFrameBytes,
  creditBytes: 4 * sentFrameBytes,
  creditBytesMax: 16 * mebibyte,
  /** Of a received frame. */
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
  /** The longest pause that a node makes because a server, or a proxy before it, asks for one. */
  retryAfterMaxMs: 1 * minuteMs,
  openTimeoutMs: 10 * secondMs,
} as const;
