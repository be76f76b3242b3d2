/**
 * Requests and answers independent of the framework, so that the HTTP adapter, `createAgent` and
 * the simulator serve the same routes. ARCHITECTURE.md#http.
 */
export interface Request {
  readonly method: string;
  /** Percent-encoded path without the query, `/v1/job/web`. */
  readonly path: string;
  /** The raw query without `?`; empty if there is none. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array | undefined;
  /** Identifies the connection; absent without a connection. */
  readonly connection?: object | undefined;
  /** Absent without a connection. */
  readonly remoteAddress?: string | undefined;
  /**
   * Calls `run` when the caller disconnects, or at once if it already has. The result unsubscribes.
   * Absent if disconnections cannot be detected.
   */
  onGone?(run: () => void): () => void;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** An iterable makes each part on demand, for streams and long lists. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

export function header(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export const jsonType = { 'content-type': 'application/json' } as const;
