import { kibibyte, secondMs } from '../../base/units.ts';

/** Commands that people run in tasks. */
export const execLimits = {
  sessionsPerServerMax: 512,
  sessionsPerNodeMax: 64,
  sessionsPerTaskMax: 16,
  /** All words of a command together, as JSON. */
  commandLengthMax: 12 * kibibyte,
  commandWordsMax: 1024,
  /** Bytes that may be under way on one hop of a session. */
  creditBytes: 64 * kibibyte,
  /** Of the command's output in one message. */
  messageDataBytesMax: 1024,
  /** Of one message from a client. */
  messageBytesMax: 256 * kibibyte,
  /** Messages that wait for a command, or a person, that does not read. */
  queuedBytesMax: 256 * kibibyte,
  terminalSizeMax: 65_535,
  /** Until the message with the token. */
  handshakeTimeoutMs: 10 * secondMs,
  /** Until the node says that the command runs. */
  startTimeoutMs: 15 * secondMs,
  heartbeatIntervalMs: 10 * secondMs,
  /** A client that neither reads nor says anything for so long is gone. */
  silentTimeoutMs: 60 * secondMs,
  /** How soon after the end of a command what it left is looked for, for all that ended meanwhile. */
  sweepDelayMs: 200,
  /** How long a command gets to end when nobody wants it any more. */
  endGraceMs: 1 * secondMs,
} as const;
