import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../model/limits.ts';
import type { Answer } from './http.ts';

/** An answer as bytes, for connections that never came as far as the HTTP framework. */
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
 * Takes over a socket that no framework watches: whatever happens to it, it is destroyed, since an
 * `error` that nobody hears ends the process. It has `timeoutMs` until it does something.
 */
export function ownSocket(socket: Socket, timeoutMs: number = limits.http.headersTimeoutMs): void {
  socket.on('error', () => socket.destroy());
  socket.setTimeout(timeoutMs, () => socket.destroy());
}

/**
 * Says why and hangs up. Nothing more is read, and no socket stays half open: it is destroyed when
 * the answer has left, or when its reader does not take it.
 */
export function hangUp(socket: Socket, answer: Answer): void {
  ownSocket(socket);
  socket.pause();
  if (!socket.writable) socket.destroy();
  else socket.end(rawAnswer(answer), () => socket.destroy());
}
