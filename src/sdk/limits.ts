/** Bounds of the client's side of a connection. */
export const limits = {
  /** Connections to one address. Each blocking query and each stream holds one. */
  connectionsMax: 256,
  connectTimeoutMs: 10_000,
  /** Until the head of an answer; a blocking query gets its wait on top. */
  headTimeoutMs: 60_000,
  /** The same for work that grows with all that the server keeps. */
  longWorkTimeoutMs: 60 * 60_000,
  /** Between two pieces of one answer's body; streams have no such limit. */
  bodyTimeoutMs: 60_000,
  /** The server's own default for `wait`, and what it may add at random: wait / 16. */
  waitDefaultMs: 5 * 60_000,
  waitJitterDivisor: 16,
  keepAliveTimeoutMs: 30_000,
  answerBytesMax: 256 * 1024 * 1024,
  /** Of an answer that refuses. */
  problemBytesMax: 1024 * 1024,
  /** How much of an answer that nobody understands is quoted. */
  quotedCharactersMax: 200,
} as const;
