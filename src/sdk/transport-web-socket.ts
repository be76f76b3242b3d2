import WebSocket from 'ws';
import { MessageQueue } from '../model/exec-session/message-queue.ts';
import { limits as modelLimits } from '../model/limits.ts';
import { ConnectionError, connectionError } from './errors.ts';
import { limits } from './limits.ts';
import { type TlsTrust, tlsOptions } from './tls-trust.ts';
import type { SocketRequest } from './transport.ts';
import { pinnedTo } from './transport-names.ts';

export interface WebSocketOptions {
  readonly origin: string;
  /** For messages. */
  readonly name: string;
  readonly ip: string | undefined;
  readonly trust: TlsTrust;
}

/** Resolves when the socket is open. Rejects with `ConnectionError`, or the signal's reason. */
export function openWebSocket(
  { origin, name, ip, trust }: WebSocketOptions,
  { path, headers, signal }: SocketRequest,
): Promise<{ readonly socket: WebSocket; readonly messages: MessageQueue }> {
  const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}${path}`, {
    headers: { ...headers },
    maxPayload: modelLimits.exec.messageBytesMax,
    handshakeTimeout: limits.connectTimeoutMs,
    perMessageDeflate: false,
    ...tlsOptions(trust),
    ...pinnedTo(ip),
  });
  const messages = new MessageQueue(socket);
  return new Promise((resolve, reject) => {
    const abort = (): void => socket.terminate();
    signal?.addEventListener('abort', abort, { once: true });
    socket.on('error', (error) => {
      reject(signal?.aborted ? signal.reason : connectionError(name, error));
    });
    socket.once('close', () => signal?.removeEventListener('abort', abort));
    socket.once('unexpected-response', (_request, response) => {
      socket.terminate();
      const sentence = `${name} answered ${response.statusCode} where a WebSocket was asked for. Is it an agent of this version?`;
      reject(new ConnectionError(name, 'no-web-socket', sentence));
    });
    socket.once('open', () => resolve({ socket, messages }));
    if (signal?.aborted) abort();
  });
}
