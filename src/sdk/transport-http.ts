import { Readable } from 'node:stream';
import type { buildConnector, Dispatcher, Pool } from 'undici';
import type { WebSocket } from 'ws';
import { connectionError } from './errors.ts';
import { limits } from './limits.ts';
import { repeats } from './repeats-real.ts';
import { type TlsTrust, tlsOptions } from './tls-trust.ts';
import type { Transport, TransportAnswer, TransportRequest } from './transport.ts';
import { pinnedTo } from './transport-names.ts';

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
  let pool: Promise<Pool> | undefined;
  /** The library is large: it is loaded for the first request. */
  const openPool = async (): Promise<Pool> => {
    const { default: undici } = await import('undici');
    return new undici.Pool(origin, {
      connections: limits.connectionsMax,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connect: connectorOf(trust, ip, undici.buildConnector),
    });
  };
  const sockets = new Set<WebSocket>();
  return {
    repeats,
    async send(request) {
      const { signal } = request;
      signal?.throwIfAborted();
      try {
        pool ??= openPool();
        const response = await (await pool).request(requestOptions(below(request)));
        return {
          status: response.statusCode,
          headers: flatten(response.headers),
          body: bodyOf(response.body, name, signal),
        };
      } catch (error) {
        signal?.throwIfAborted();
        throw connectionError(name, error);
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
      await (await pool)?.destroy();
    },
  };
}

/** Certificates that may change are read for each connection. */
function connectorOf(
  trust: TlsTrust,
  ip: string | undefined,
  build: typeof buildConnector,
): buildConnector.connector | buildConnector.BuildOptions {
  const connecting = (): buildConnector.BuildOptions => ({
    ...tlsOptions(trust),
    ...pinnedTo(ip),
    timeout: limits.connectTimeoutMs,
  });
  if (trust.own === undefined && trust.current === undefined) return connecting();
  return (options, callback) => build(connecting())(options, callback);
}

function requestOptions(request: TransportRequest): Dispatcher.RequestOptions {
  const { method, path, headers, body, signal, headTimeoutMs, bodyTimeoutMs } = request;
  return {
    method,
    path,
    headers,
    body: typeof body === 'object' ? Readable.from(body, { objectMode: false }) : (body ?? null),
    signal: signal ?? null,
    headersTimeout: headTimeoutMs,
    bodyTimeout: bodyTimeoutMs,
  };
}

async function* bodyOf(
  body: AsyncIterable<Uint8Array>,
  name: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionError(name, error);
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
