import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { longestMessageBytes, webSocketTransport } from '../../model/node-stream/web-socket.ts';
import { networkLimits } from './limits.ts';
import type { ServersTransport } from './link.ts';

/** The path at which servers connect to each other, on the port of the API. */
export const serversPath = '/v1/internal/servers';

export interface WebSocketLinkOptions {
  /** Whether the servers of the cluster speak TLS, as this server does. */
  readonly usesTls: boolean;
  /** Connect without TLS to other machines too. */
  readonly allowsPlaintext: boolean;
  /** Whether an address belongs to this machine. */
  readonly isNear: (host: string) => boolean;
}

/** Not in limits: 32 bytes, as a hash has. */
const bindingBytes = 32;

/**
 * A value that only the two ends of a TLS session know (RFC 5705). A program between two sessions has two of
 * them. Empty without TLS.
 */
export function bindingOf(socket: Socket): string {
  if (!isEncrypted(socket)) return '';
  const material = (socket as TLSSocket).exportKeyingMaterial(
    bindingBytes,
    'EXPORTER-roster-servers-1',
    Buffer.alloc(0),
  );
  return material.toString('base64');
}

export const isEncrypted = (socket: Socket): boolean =>
  (socket as Partial<TLSSocket>).encrypted === true;

/**
 * Dials other servers over WebSockets. With TLS any certificate will do: the proof of the root key names
 * the session, so nobody can stand in between.
 */
export const webSocketServers = (options: WebSocketLinkOptions): ServersTransport => ({
  dial: (address, signal) => {
    const { usesTls, allowsPlaintext, isNear } = options;
    if (!usesTls && !allowsPlaintext && !isNear(hostOf(address))) {
      const reason = 'it is another machine, and without TLS everybody on the way could read along';
      return Promise.reject(new Error(reason));
    }
    const socket = new WebSocket(`${usesTls ? 'wss' : 'ws'}://${address}${serversPath}`, {
      maxPayload: longestMessageBytes,
      handshakeTimeout: networkLimits.handshakeTimeoutMs,
      perMessageDeflate: false,
      // Before TLS 1.3 two sessions can be made to have the same keying material (RFC 7627).
      ...(usesTls && { rejectUnauthorized: false, minVersion: 'TLSv1.3' as const }),
    });
    return new Promise((resolve, reject) => {
      const abort = () => socket.terminate();
      signal.addEventListener('abort', abort, { once: true });
      let binding = '';
      socket.once('upgrade', (response) => {
        binding = bindingOf(response.socket);
      });
      socket.on('error', (error) => reject(error));
      socket.once('close', () => {
        signal.removeEventListener('abort', abort);
        reject(new Error('the connection was closed'));
      });
      socket.once('unexpected-response', (_request, response) => {
        socket.terminate();
        reject(new Error(`it answered ${response.statusCode} where servers connect`));
      });
      socket.once('open', () => resolve({ socket: webSocketTransport(socket), binding }));
      if (signal.aborted) abort();
    });
  },
});

/** The host in `host:port`. */
const hostOf = (address: string): string =>
  address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
