import { minuteMs, secondMs } from '../../base/units.ts';

/** Bounds between the servers of a cluster. */
export const serversLimits = {
  /** The time for an answer of another server, added to the time that the request may wait. */
  askMs: 60 * secondMs,
  /** The longest wait of a request until some server leads. */
  holdMs: 7 * secondMs,
  /** The longest time in which a server without a leader finds out what the log knows of a node. */
  leaderlessMs: 2 * secondMs,
  /** Between two looks at who leads, where no news of it comes. */
  lookMs: 10,
  /** The longest time that a planned change of the leader waits for running writes. */
  drainMs: 5 * secondMs,
  /** The longest wait of an answer of the leader until this server shows the write: half the time that clients wait. */
  catchUpMs: 30 * secondMs,
  /** The same for the answer to a node, which has to hear in time that its heartbeat was taken. */
  heartbeatCatchUpMs: 5 * secondMs,
  /** Between two attempts meanwhile to read the end of the log. */
  catchUpRetryMs: secondMs / 4,
  /** The difference between the clocks of two servers from which on they say so. */
  skewMaxMs: secondMs,
  /** The longest time that a server has for a read of the log's end, to be healthy. */
  healthMs: 2 * secondMs,
  /** A leader whose oldest write waits longer for its store is not healthy, since the disk may hang. */
  writeWaitMaxMs: 30 * secondMs,
  /** Between two looks at that wait. */
  writeLookMs: 5 * secondMs,
  /** A server that is further behind is not healthy. */
  behindMaxMs: 10 * secondMs,
  /** The age of its state from which on a server no longer answers `stale` requests, unless a setting says otherwise. */
  staleMaxMs: 5 * minuteMs,
  /** The least that the setting may say: a follower hears of the leader's index only now and then. */
  staleMaxLeastMs: 5 * secondMs,
  /** A leader that has not heard of the log for this time tells so; longer than between two looks. */
  leaderSilentMs: 5 * secondMs,
  /** Indexes reported by the leader that a follower keeps until its own state has reached them. */
  leaderWordsMax: 64,
  /** The time without an answer of a shared log after which the health tells of it; longer than between two looks. */
  logSilentMs: 15 * secondMs,
} as const;
