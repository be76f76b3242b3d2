import type { MessageQueue, PausableWebSocket } from '../model/exec-session/message-queue.ts';

/**
 * The way to a server. `transport-http.ts` implements HTTP; the simulator and embedded agents have
 * their own.
 */
export interface Transport {
  /**
   * Resolves with the head of the answer. Rejects with `ConnectionError`, or with the signal's
   * reason.
   */
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Keys for writes, which are then repeated until their outcome is known. Absent: they are sent once. */
  readonly repeats?: Repeats;
  /** Opens a WebSocket. Rejects as `send` does. Absent if WebSockets are not supported. */
  openSocket?(request: SocketRequest): Promise<OpenSocket>;
  /** Ends all pending requests. */
  close(): Promise<void>;
}

export interface Repeats {
  /** A new `Idempotency-Key`. */
  newKey(): string;
  /** Resolves after the time, or when the signal aborts. */
  pause(delayMs: number, signal: AbortSignal | undefined): Promise<void>;
}

export interface OpenSocket {
  readonly socket: PausableWebSocket;
  /** All messages since the socket opened. */
  readonly messages: MessageQueue;
}

export interface SocketRequest {
  /** Percent-encoded path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

export interface TransportRequest {
  readonly method: Method;
  /** Percent-encoded path with its query, below the base path of the address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces are sent as they come. */
  readonly body: string | AsyncIterable<Uint8Array> | undefined;
  readonly signal: AbortSignal | undefined;
  /** The time until the head of the answer. */
  readonly headTimeoutMs: number;
  /** The time between two chunks of the body; 0: no limit. */
  readonly bodyTimeoutMs: number;
}

export interface TransportAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Can be read once. Leaving the loop early ends the request. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';
