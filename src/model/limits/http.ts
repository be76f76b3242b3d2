import { kibibyte, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/** The cost of HTTP requests. */
export const httpLimits = {
  /** Bodies in general. */
  bodyBytesMax: 1 * mebibyte,
  /** Job writes: the job and its source. */
  jobBodyBytesMax: 4 * mebibyte,
  /** Batched reports of nodes. */
  nodeBodyBytesMax: 4 * mebibyte,
  jsonDepthMax: 64,
  headerBytesMax: 32 * kibibyte,
  urlBytesMax: 16 * kibibyte,
  /** Concurrent connections of one address; 0 is no limit. */
  connectionsPerAddressMax: 100,
  /** The same for the machine itself, where benchmarks and node agents live; 0 is no limit. */
  connectionsPerLoopbackMax: 0,
  connectionsMax: 20_000,
  connectionBacklog: 4096,
  /** Names under which the server may be asked besides its own. */
  allowedHostsMax: 64,
  /** Encodings of rows that are kept, since rows that are read are often read again. */
  encodedRowBytesMax: 64 * kibibyte,
  encodedRowsBytesMax: 16 * mebibyte,
  headersTimeoutMs: 10 * secondMs,
  bodyTimeoutMs: 30 * secondMs,
  /** How often connections are looked through for those that are too slow. */
  timeoutCheckMs: 500,
  keepAliveTimeoutMs: 75 * secondMs,
  /** Answers below this size are not worth compressing. */
  compressBytesMin: 1024,
  /** How long requests that are under way may go on when the server stops. */
  stopGraceMs: 5 * secondMs,
} as const;

/** Blocking queries. */
export const watchLimits = {
  parkedMax: 20_000,
  /** Of these, queries that show no token. */
  parkedAnonymousMax: 2_000,
  waitDefaultMs: 5 * minuteMs,
  waitMaxMs: 10 * minuteMs,
  /** Up to wait divided by this is added at random. */
  jitterDivisor: 16,
  retryAfterSeconds: 1,
} as const;

export const listLimits = {
  perPageMax: 10_000,
  nextTokenLengthMax: 1024,
  filterLengthMax: 4096,
  /** How long making a list may take before it lets others go first, and how long from then on. */
  atOnceMs: 3,
  sliceMs: 1,
  /** Rows between two looks at the clock. */
  rowsPerStep: 16,
} as const;

/** Faults that one refusal tells; a body may hold a million. */
export const faultLimits = {
  listedMax: 100,
  quotedLengthMax: 64,
  warningsMax: 100,
  /** Warnings that are counted. An answer lists fewer, and tells how many more there are. */
  warningsFoundMax: 1000,
} as const;

export const auditLimits = { queuedBytesMax: 16 * mebibyte, textLengthMax: 512 } as const;
