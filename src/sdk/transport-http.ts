import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { connectionError } from './errors.ts';
import { repeats } from './repeats-real.ts';
import type { TlsTrust } from './tls-trust.ts';
import type { Transport, TransportAnswer, TransportRequest } from './transport.ts';
import { broken, Connections, coded } from './transport-connections.ts';

export interface HttpTransportOptions extends TlsTrust {
  /** `http://127.0.0.1:4720`, with or without a base path. */
  readonly address: string;
  /** The machine to connect to, of several behind the host name of the address. */
  readonly ip?: string | undefined;
}

/**
 * Keeps connections open between requests. Redirects are not followed, so the token stays with its
 * server.
 */
export function httpTransport({ address, ip, ...trust }: HttpTransportOptions): Transport {
  const { origin, pathname } = new URL(address);
  const name = ip === undefined ? origin : `${origin} (${ip})`;
  const below = <R extends { readonly path: string }>(request: R): R => ({
    ...request,
    path: `${pathname.replace(/\/+$/, '')}${request.path}`,
  });
  const connections = new Connections(origin, trust, ip);
  const sockets = new Set<WebSocket>();
  return {
    repeats,
    async send(request) {
      const { signal } = request;
      signal?.throwIfAborted();
      try {
        const answer = await connections.send(below(request));
        return {
          status: answer.statusCode!,
          headers: flatten(answer.headers),
          body: bodyOf(answer, request, name),
        };
      } catch (error) {
        signal?.throwIfAborted();
        throw connectionError(name, broken(error));
      }
    },
    async openSocket(request) {
      request.signal?.throwIfAborted();
      const { openWebSocket } = await import('./transport-web-socket.ts');
      const opened = await openWebSocket({ origin, name, ip, trust }, below(request));
      sockets.add(opened.socket);
      void opened.messages.closed.then(() => sockets.delete(opened.socket));
      return opened;
    },
    async close() {
      for (const socket of sockets) socket.terminate();
      connections.close();
    },
  };
}

/** Pieces have to come within the time, however long the reader takes for each. */
async function* bodyOf(
  answer: IncomingMessage,
  { signal, bodyTimeoutMs }: TransportRequest,
  name: string,
): AsyncGenerator<Uint8Array, void> {
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    if (bodyTimeoutMs === 0) return;
    timer = setTimeout(() => answer.destroy(coded('UND_ERR_BODY_TIMEOUT')), bodyTimeoutMs).unref();
  };
  try {
    wait();
    for await (const bytes of answer) {
      clearTimeout(timer);
      yield bytes;
      wait();
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionError(name, broken(error));
  } finally {
    clearTimeout(timer);
  }
}

function flatten(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): TransportAnswer['headers'] {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
