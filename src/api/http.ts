/**
 * A request and its answer without any framework, so that the HTTP adapter, `createAgent` and the
 * simulator serve the same routes. ARCHITECTURE.md#http.
 */
export interface Request {
  readonly method: string;
  /** Percent-encoded path without the query, `/v1/job/web`. */
  readonly path: string;
  /** The query as it came, without `?`; empty when there is none. */
  readonly query: string;
  /** Header values by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array | undefined;
  /** Stands for the connection it came through; absent when it came through none. */
  readonly connection?: object | undefined;
  /** Where it came from, as far as the connection tells; absent when it came through none. */
  readonly remoteAddress?: string | undefined;
  /**
   * Calls `run` when the caller is gone (at once if it already is), so that nothing is kept waiting
   * for it. Undone by the result. Absent where nobody can tell.
   */
  onGone?(run: () => void): () => void;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parts, each made when it is asked for, of what goes on while it is read and of long lists. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

export function header(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export const jsonType = { 'content-type': 'application/json' } as const;
