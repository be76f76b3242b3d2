import type { Authorizer } from '../acl/authorizer.ts';
import type { Footprint } from '../state/types.ts';
import type { Memory } from './memory.ts';
import type { Moment } from './moment.ts';

/**
 * Requests and answers independent of `node:http`, so that the HTTP adapter, `createAgent` and
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
  /** The body of a request whose route reads it itself; `body` is absent then. */
  readonly unread?: AsyncIterable<Uint8Array> | undefined;
  /** Identifies the connection; absent without a connection. */
  readonly connection?: object | undefined;
  /** Absent without a connection. */
  readonly remoteAddress?: string | undefined;
  /**
   * Calls `run` when the caller disconnects, or at once if it already has. The result unsubscribes.
   * Absent if disconnections cannot be detected.
   */
  onGone?(run: () => void): () => void;
  /** Absent if the caller does not follow the answer. */
  readonly follower?: Follower | undefined;
}

/** Takes the footprint of an answer, which names the rows that it depends on, and the cost of the answer. */
export interface Follower {
  /** Of all answers to it. */
  readonly memory: Memory;
  /**
   * Takes the footprints of an answer, where the endpoint blocks: when their rows change, the answer may change.
   * `ofAnswer` is filled while the answer is made; `ofCaller` has the rows that the rights of the caller come from.
   */
  onRead(read: {
    readonly ofAnswer: Footprint;
    readonly ofCaller: readonly Footprint[];
    readonly authorizer: Authorizer;
    /** When it may be another without a change, filled as `ofAnswer` is. */
    readonly moment: Moment;
  }): void;
  /** Takes the texts of the rows of a list, where its answer is made of these and is made at once. */
  onRows(texts: readonly string[]): void;
  /** The answer depends on who the caller is, not on its rights alone. */
  onCaller(): void;
  /** Does work for the answer, and measures it. */
  measure<T>(work: () => T): T;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** An iterable makes each part on demand, for streams and long lists. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** How long its connection waits for another request; by default as long as any other. */
  readonly keepAliveMs?: number;
}

/** A body whose parts are written to the connection as they come, where there is a connection. */
export interface PushedBody extends AsyncIterable<Uint8Array> {
  /** Writes until the body ends or the caller disconnects. */
  writeTo(sink: Sink): void;
}

/** The writing side of a connection. */
export interface Sink {
  /** `false`: it is full, and drains later. */
  write(bytes: Uint8Array): boolean;
  end(): void;
  on(event: 'drain', run: () => void): void;
}

export const isPushed = (body: AsyncIterable<Uint8Array>): body is PushedBody => 'writeTo' in body;

export function header(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export const jsonType = { 'content-type': 'application/json' } as const;

/** Bodies that somebody has begun to read. */
const begun = new WeakSet<AsyncIterable<Uint8Array>>();

/** The body in pieces. */
export async function* piecesOf({ unread, body }: Request): AsyncGenerator<Uint8Array> {
  if (unread !== undefined) {
    begun.add(unread);
    yield* unread;
  } else if (body !== undefined) yield body;
}

/** Whether the body was begun to be read, so that nobody else can read it. */
export const isBegun = ({ unread }: Request): boolean => unread !== undefined && begun.has(unread);

/** Aborts when the caller disconnects. */
export function untilGone(request: Request): AbortSignal {
  const gone = new AbortController();
  request.onGone?.(() => gone.abort());
  return gone.signal;
}
