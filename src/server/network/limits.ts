import { kibibyte, secondMs } from '../../base/units.ts';

/** Bounds of the connections between the servers of a cluster. */
export const networkLimits = {
  /** From the opening of a connection until both sides have proven the root key. */
  handshakeTimeoutMs: 5 * secondMs,
  handshakeMessageBytesMax: 4 * kibibyte,
  /** Connections whose other side has not proven the root key yet. */
  unprovenMax: 64,
  /** Time between two reports of a server to the others. */
  beatMs: secondMs / 2,
  /** The reports by which the clock of a server is judged: the fastest of them tells it best. */
  skewReports: 10,
  /** A server that reports nothing for this time is disconnected. */
  silentMs: 5 * secondMs,
  redialMinMs: 100,
  redialMaxMs: 5 * secondMs,
  /** Requests and streams of nodes that each side may have under way on a connection. */
  streamsMax: 4096,
  /** A request up to this size goes with the opening of its stream, which saves a round trip. */
  inlineBytesMax: 24 * kibibyte,
  /** Method, path, query and headers of a request, or status and headers of an answer. */
  headBytesMax: 256 * kibibyte,
  /** Nodes in one line of a report. */
  nodesPerLineMax: 1000,
  /** Peers that lag, in one line of a report. */
  lagsPerLineMax: 50,
  reportLineBytesMax: 64 * kibibyte,
} as const;
