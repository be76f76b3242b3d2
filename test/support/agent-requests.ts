/** Requests to an agent in this process, without a port. */
import type { Answer, Request } from '../../src/api/http.ts';

export function requestOf(method: string, url: string, token: string, body?: object): Request {
  const [path = '', query = ''] = url.split('?', 2);
  return {
    method,
    path,
    query,
    headers: { 'x-registry-token': token },
    body: body && Buffer.from(JSON.stringify(body)),
  };
}

/** The answer with its parsed body. */
export function parseAnswer({ status, headers, body }: Answer) {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : body;
  const isText = typeof text === 'string' && text !== '';
  return { status, headers, json: isText ? JSON.parse(text) : undefined };
}
