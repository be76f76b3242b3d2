/** Bounds of the client's side of a connection. */
export const limits = {
  /** Connections to one address. Each blocking query and each stream occupies a connection. */
  connectionsMax: 256,
  connectTimeoutMs: 10_000,
  /** Until the head of an answer. The wait of a blocking query is added. */
  headTimeoutMs: 60_000,
  /** As `headTimeoutMs`, for work that grows with the size of the state. */
  longWorkTimeoutMs: 60 * 60_000,
  /** Between two chunks of a body. Streams have no such limit. */
  bodyTimeoutMs: 60_000,
  /** The server's default for `wait`, and the divisor of its random extension. */
  waitDefaultMs: 5 * 60_000,
  waitJitterDivisor: 16,
  /** Attempts of a write after the first one, and the pause before the first of them, which doubles. */
  repeatsMax: 5,
  repeatAfterMs: 100,
  /** Tries to go on with a stream, for half a minute, and the longest pause between two of them. */
  resumesMax: 11,
  resumeAfterMaxMs: 5000,
  /** A frame of a file has at most 64 KiB of data, and base64 makes it longer. */
  frameLineBytesMax: 1024 * 1024,
  /** The longest wait for a state, unless the caller gives another. */
  waitUntilMs: 5 * 60_000,
  keepAliveTimeoutMs: 30_000,
  answerBytesMax: 256 * 1024 * 1024,
  /** Of the body of a refusal. */
  problemBytesMax: 1024 * 1024,
  /** Of an unintelligible answer in an error message. */
  quotedCharactersMax: 200,
} as const;
