import type { StreamSocket } from '../../model/node-stream/stream-connection.ts';

/** A new connection to another server, which has proven nothing yet. */
export interface ServerLink {
  readonly socket: StreamSocket;
  /** Keying material of the TLS session; empty without TLS. */
  readonly binding: string;
}

/**
 * How servers reach each other. The composition root passes WebSockets (`web-socket-link.ts`), tests a
 * network of their own.
 */
export interface ServersTransport {
  /**
   * Opens a connection. Rejects with an `Error` whose message ends a sentence, also when `signal` aborts.
   * @param address `host:port`
   */
  dial(address: string, signal: AbortSignal): Promise<ServerLink>;
}
