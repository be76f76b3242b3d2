import { hourMs, kibibyte, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/** Bounds of peerings. Source: docs/behaviour/peering.md. */
export const peeringLimits = {
  countMax: 1000,
  addressesMax: 16,
  tokenLengthMax: 64 * kibibyte,
  heartbeatMs: 15 * secondMs,
  /** The time without a frame after which a stream has ended. */
  silenceMaxMs: 2 * minuteMs,
  dialTimeoutMs: 2 * secondMs,
  /** All attempts to exchange the secrets of a token. */
  establishTimeoutMs: 3 * secondMs,
  retryMinMs: 150,
  retryMaxMs: 15 * secondMs,
  /** Size of a frame of a stream. */
  frameBytesMax: 1 * mebibyte,
  /** Depth of a frame, its lists and objects, and the members of each of them. */
  frameDepthMax: 16,
  frameListsMax: 4096,
  frameMembersMax: 2048,
  /** Unacknowledged changes that are under way to a peer. */
  window: 4,
  /** Instances in a change; also the entries of its other lists together. */
  instancesPerChangeMax: 256,
  /** The approximate size of a change. A larger instance is not told to a peer. */
  changeBytesMax: 512 * kibibyte,
  instanceBytesMax: 256 * kibibyte,
  /** Instances that change while the window is full; after more changes, all is sent again. */
  changedInstancesMax: 8192,
  /** Frames of a peer that wait to be handled. */
  framesWaitingMax: 16,
  importedInstancesMax: 200_000,
  importedServicesMax: 20_000,
  /** The approximate size of the rows that are kept of a peer. */
  importedBytesMax: 256 * mebibyte,
  /** Rows that a transaction removes when a peering is deleted. */
  rowsPerTransactionMax: 64,
  /** The time from the opening of a stream until both sides are authenticated. */
  handshakeTimeoutMs: 5 * secondMs,
  /** Frames and bytes of a handshake, from anybody. */
  handshakeFramesMax: 8,
  handshakeFrameBytesMax: 64 * kibibyte,
  /** Open streams without an authenticated peer. */
  strangersMax: 256,
  /** How long a deleted peering waits until the other cluster is told. */
  farewellMs: 10 * secondMs,
  /** How long the server tries to tell the other cluster after the record is deleted. */
  farewellKeptMs: 24 * hourMs,
  /** Frames that a peer may send at once, and per second after that. */
  framesBurst: 2000,
  framesPerSecond: 500,
  /** Room for all that a peer may export (`importedBytesMax`), which it sends when a stream opens. */
  bytesBurst: 384 * mebibyte,
  bytesPerSecond: 16 * mebibyte,
  /** Bytes that wait here for a peer that does not read. */
  unreadBytesMax: 16 * mebibyte,
  /** How many streams a peer may open at once, and the interval after that. */
  opensBurst: 20,
  opensRefillMs: 1 * secondMs,
  /** How many times a peer may change its addresses at once, and the interval after that. */
  addressesBurst: 8,
  addressesRefillMs: 15 * secondMs,
  /** Characters of a sentence from another cluster. */
  reasonLengthMax: 256,
} as const;
