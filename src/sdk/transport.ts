import type { MessageQueue, PausableWebSocket } from '../model/exec-session/message-queue.ts';

/**
 * How requests reach a server. The HTTP one is in `transport-http.ts`; a simulator or an embedded
 * agent may give its own.
 */
export interface Transport {
  /**
   * Resolves when the head of the answer is there. Rejects with `ConnectionError`, or with the
   * signal's reason when it aborted.
   */
  send(request: TransportRequest): Promise<TransportAnswer>;
  /**
   * Opens a WebSocket. Rejects as `send` does. Absent where there are none.
   */
  openSocket?(request: SocketRequest): Promise<OpenSocket>;
  /** Ends every request that is under way. */
  close(): Promise<void>;
}

export interface OpenSocket {
  readonly socket: PausableWebSocket;
  /** From the very first on. */
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
  /** Percent-encoded path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** How long the head of the answer may take. */
  readonly headTimeoutMs: number;
  /** How long the body may be silent; 0: for ever. */
  readonly bodyTimeoutMs: number;
}

export interface TransportAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be read once. Leaving its loop early ends the request. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';
