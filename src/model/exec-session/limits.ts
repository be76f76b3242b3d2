import { kibibyte, secondMs } from '../../base/units.ts';

/** Bounds of commands that people run in tasks. */
export const execLimits = {
  sessionsPerServerMax: 512,
  sessionsPerNodeMax: 64,
  sessionsPerTaskMax: 16,
  /** All words of a command together, as JSON. */
  commandLengthMax: 12 * kibibyte,
  commandWordsMax: 1024,
  /** Bytes under way on a hop of a session. */
  creditBytes: 64 * kibibyte,
  /** Bytes of the command's output in a message. */
  messageDataBytesMax: 1024,
  /** Bytes of a message from a client. */
  messageBytesMax: 256 * kibibyte,
  /** Bytes of messages that wait for a slow command or person. */
  queuedBytesMax: 256 * kibibyte,
  terminalSizeMax: 65_535,
  /** The wait for the message with the token. */
  handshakeTimeoutMs: 10 * secondMs,
  /** The wait until the node reports that the command runs. */
  startTimeoutMs: 15 * secondMs,
  heartbeatIntervalMs: 10 * secondMs,
  /** A client that neither reads nor sends for this time is gone. */
  silentTimeoutMs: 60 * secondMs,
  /**
   * The delay between the end of a command and the search for processes that it left; a search serves all
   * commands that ended meanwhile.
   */
  sweepDelayMs: 200,
  /** The time that an unwanted command gets to end. */
  endGraceMs: 1 * secondMs,
} as const;
