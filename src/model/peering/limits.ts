import { hourMs, kibibyte, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/** Clusters that peer. Source: docs/behaviour/peering.md. */
export const peeringLimits = {
  countMax: 1000,
  addressesMax: 16,
  tokenLengthMax: 64 * kibibyte,
  heartbeatMs: 15 * secondMs,
  /** A stream on which nothing comes for that long has ended. */
  silenceMaxMs: 2 * minuteMs,
  dialTimeoutMs: 2 * secondMs,
  /** All attempts to exchange the secrets of a token. */
  establishTimeoutMs: 3 * secondMs,
  retryMinMs: 150,
  retryMaxMs: 15 * secondMs,
  /** Of one frame of a stream. */
  frameBytesMax: 1 * mebibyte,
  /** How deep it is nested, its lists and objects, and the members of any of them. */
  frameDepthMax: 16,
  frameListsMax: 4096,
  frameMembersMax: 2048,
  /** Changes that are under way to a peer and not acknowledged. */
  window: 4,
  /** Instances in one change; as many of its lists together, services and removals too. */
  instancesPerChangeMax: 256,
  /** About how much of it; and the largest instance that a peer is told of. */
  changeBytesMax: 512 * kibibyte,
  instanceBytesMax: 256 * kibibyte,
  /** Instances that changed while the window was full; when there are more, all is told again. */
  changedInstancesMax: 8192,
  /** Frames of a peer that wait to be taken in. */
  framesWaitingMax: 16,
  importedInstancesMax: 200_000,
  importedServicesMax: 20_000,
  /** About how much of one peer is kept. */
  importedBytesMax: 256 * mebibyte,
  /** Rows removed by one transaction when a peering goes. */
  rowsPerTransactionMax: 64,
  /** From the opening of a stream until both sides have shown who they are. */
  handshakeTimeoutMs: 5 * secondMs,
  /** Frames and bytes of a handshake, by whoever may come. */
  handshakeFramesMax: 8,
  handshakeFrameBytesMax: 64 * kibibyte,
  /** Streams under way on which nobody has shown yet who they are. */
  strangersMax: 256,
  /** How long a peering that is deleted waits for the other cluster to hear of it. */
  farewellMs: 10 * secondMs,
  /** How long it is tried from then on, when the record is gone already. */
  farewellKeptMs: 24 * hourMs,
  /** Frames that a peer may send at once, and in a second from then on. */
  framesBurst: 2000,
  framesPerSecond: 500,
  /** More than a peer may export (`importedBytesMax`): all of it is told when a stream opens. */
  bytesBurst: 384 * mebibyte,
  bytesPerSecond: 16 * mebibyte,
  /** Bytes that wait here for a peer that does not read. */
  unreadBytesMax: 16 * mebibyte,
  /** How often a peer may open its stream at once, and how soon again. */
  opensBurst: 20,
  opensRefillMs: 1 * secondMs,
  /** How often a peer may tell other addresses at once, and how soon again. */
  addressesBurst: 8,
  addressesRefillMs: 15 * secondMs,
  /** Of a sentence that one cluster tells another. */
  reasonLengthMax: 256,
} as const;
