import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../model/limits.ts';
import type { Answer } from './http.ts';

/** The text of an answer, for connections that the HTTP server has given away. */
export function rawAnswer({ status, headers, body }: Answer): string {
  const text = typeof body === 'string' ? body : '';
  const lines = Object.entries({
    ...headers,
    connection: 'close',
    'content-length': String(Buffer.byteLength(text)),
  }).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${text}`;
}

/**
 * Takes over a socket from the HTTP server. It is destroyed on any error, because an unhandled
 * `error` event would end the process, and after `timeoutMs` without activity.
 */
export function ownSocket(socket: Socket, timeoutMs: number = limits.http.headersTimeoutMs): void {
  socket.on('error', () => socket.destroy());
  socket.setTimeout(timeoutMs, () => socket.destroy());
}

/**
 * Sends the answer and closes. Nothing more is read. The socket is destroyed when the answer is
 * sent, or when its reader does not take it, so it never stays half open.
 */
export function hangUp(socket: Socket, answer: Answer): void {
  ownSocket(socket);
  socket.pause();
  if (!socket.writable) socket.destroy();
  else socket.end(rawAnswer(answer), () => socket.destroy());
}
