import { hourMs, kibibyte, mebibyte, secondMs } from '../../base/units.ts';

/** Bounds of the connections of the web interface. */
export const uiStreamLimits = {
  connectionsPerServerMax: 1024,
  /** Watches, calls and streams under way on a connection, each. */
  watchesPerConnectionMax: 64,
  requestsPerConnectionMax: 64,
  /** Bytes of a message from a browser, which may hold a job and its source. */
  messageBytesMax: 8 * mebibyte,
  /** The length of a watched path with its query. */
  pathLengthMax: 16 * kibibyte,
  /** The length of a watched answer. */
  valueLengthMax: 4 * mebibyte,
  /** The length of all watched answers that this server keeps. */
  heldLengthMax: 256 * mebibyte,
  /** The length of the answers that a server keeps for one connection. */
  heldPerConnectionLengthMax: 32 * mebibyte,
  /** Answers up to this length are sent in one message. */
  answerLengthMax: 64 * kibibyte,
  /** Bytes of a body in a message. */
  partBytesMax: 32 * kibibyte,
  /** Bytes that a browser grants a stream before it has read any, and the most that it may grant. */
  creditBytes: 256 * kibibyte,
  creditBytesMax: 64 * mebibyte,
  /** The wait for the message with the token. */
  helloTimeoutMs: 10 * secondMs,
  beatIntervalMs: 10 * secondMs,
  /** A browser that neither reads nor sends for this time is gone. */
  silentTimeoutMs: 60 * secondMs,
  /** The least time between two evaluations of a watch. */
  watchIntervalMs: 150,
  /** The same for paths that do not block, while the index of the state moves. */
  pollIntervalMs: 2 * secondMs,
  /** The time after which such a path is read again in any case. */
  restIntervalMs: 10 * secondMs,
  /** A path whose answer depends on the time is read again at the moment of its next change, and after this time at the latest. */
  momentWaitMaxMs: 1 * hourMs,
  /** All watches together use at most this part of a core, without collections, unless some reach their own bound: an evaluation is followed by a pause of so many times its cost. */
  costFactor: 120,
  /** A watch waits at most so many times its own cost, however many others there are. */
  costFactorMax: 1_200,
  /** The longest pause because of a cost. */
  watchIntervalMaxMs: 5 * secondMs,
} as const;
