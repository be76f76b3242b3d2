import { kibibyte, mebibyte, minuteMs, secondMs } from '../../base/units.ts';

/** Bounds of HTTP requests. */
export const httpLimits = {
  /** Size of other bodies. */
  bodyBytesMax: 1 * mebibyte,
  /** Size of job writes: the job and its source. */
  jobBodyBytesMax: 4 * mebibyte,
  /** Size of batched reports of nodes. */
  nodeBodyBytesMax: 4 * mebibyte,
  jsonDepthMax: 64,
  headerBytesMax: 32 * kibibyte,
  urlBytesMax: 16 * kibibyte,
  /** Concurrent connections from an address; 0: no limit. */
  connectionsPerAddressMax: 100,
  /** Concurrent connections from the machine itself, where benchmarks and node agents run; 0: no limit. */
  connectionsPerLoopbackMax: 0,
  connectionsMax: 20_000,
  connectionBacklog: 4096,
  /** The longest time in which connections that arrive together are accepted before they are served. */
  arrivalsMs: 20,
  /** Further names under which clients may address the server. */
  allowedHostsMax: 64,
  /** Encoded rows that are kept, since rows that are read are often read again. */
  encodedRowBytesMax: 64 * kibibyte,
  encodedRowsBytesMax: 16 * mebibyte,
  /** Encoded rows up to this size are also kept as text, which is sent together with the headers. */
  textBytesMax: 8 * kibibyte,
  /** Characters of records of lists that are kept for the next list. */
  listedTextsLengthMax: 16 * mebibyte,
  headersTimeoutMs: 10 * secondMs,
  bodyTimeoutMs: 30 * secondMs,
  /** The interval at which connections are checked for slow requests. */
  timeoutCheckMs: 500,
  keepAliveTimeoutMs: 75 * secondMs,
  /** Answers below this size are not worth compressing. */
  compressBytesMin: 1024,
  /** The time that requests under way get to finish when the server stops. */
  stopGraceMs: 5 * secondMs,
} as const;

/** Bounds of blocking queries. */
export const watchLimits = {
  parkedMax: 60_000,
  /** Waiting queries without a token. */
  parkedAnonymousMax: 2_000,
  waitDefaultMs: 5 * minuteMs,
  waitMaxMs: 10 * minuteMs,
  /** The largest random part of a wait is the wait divided by this. */
  jitterDivisor: 16,
  retryAfterSeconds: 1,
} as const;

export const listLimits = {
  perPageMax: 10_000,
  nextTokenLengthMax: 1024,
  filterLengthMax: 4096,
  /** Rows of a list that is sorted or counted, and records on a page of a sorted list. */
  sortedRowsMax: 100_000,
  sortedPerPageMax: 500,
  /** Rows that watched lists keep in their order, all together. */
  keptRowsMax: 2_000_000,
  /** Changes of rows that wait for the next answer of a watched list. With more it is made anew. */
  keptChangesMax: 10_000,
  /** The longest first step of making a list, and the longest further step. */
  atOnceMs: 3,
  sliceMs: 1,
  /** Rows between two checks of the clock. */
  rowsPerStep: 16,
} as const;

/** Faults that a refusal lists; a body may have a million. */
export const faultLimits = {
  listedMax: 100,
  quotedLengthMax: 64,
  warningsMax: 100,
  /** Warnings that are counted. An answer lists fewer, and tells how many more there are. */
  warningsFoundMax: 1000,
} as const;

export const auditLimits = { queuedBytesMax: 16 * mebibyte, textLengthMax: 512 } as const;
