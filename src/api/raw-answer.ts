import { STATUS_CODES } from 'node:http';
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
