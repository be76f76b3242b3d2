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

/** The answer with its parsed body. On a busy machine a long list comes in parts. */
export async function parseAnswer({ status, headers, body }: Answer) {
  const parts: Uint8Array[] = [];
  if (typeof body === 'string' || body instanceof Uint8Array) parts.push(Buffer.from(body));
  else if (body !== undefined) for await (const part of body) parts.push(part);
  const text = Buffer.concat(parts).toString();
  return { status, headers, json: text === '' ? undefined : JSON.parse(text) };
}
