import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../model/limits.ts';
import type { Request } from './http.ts';

/** Read already, or to be read by the handler. */
export type Body = Uint8Array | AsyncIterable<Uint8Array> | undefined;

/** The bodies of GET and HEAD have no meaning, and are dropped (RFC 9110 §9.3.1). */
export function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  return Number(headers['content-length']) > 0 || headers['transfer-encoding'] !== undefined;
}

/** Takes the whole body; `undefined`: it is too large. If the client leaves before its end, nothing is taken. */
export function receiveBody(raw: IncomingMessage, take: (body: Buffer | undefined) => void): void {
  const most = limits.http.jobBodyBytesMax;
  if (Number(raw.headers['content-length']) > most) return void take(undefined);
  const parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer) => {
    length += part.length;
    if (length <= most) return void parts.push(part);
    // The remainder flows on, unread.
    raw.off('data', add).off('end', end);
    take(undefined);
  };
  const end = () => take(Buffer.concat(parts, length));
  raw.on('data', add).on('end', end);
}

/** RFC 9112 §3.2: a proxy in between must not see another host than the server does. */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/** The pipeline's form of a request. Without a response, `onGone` never reports. */
export const requestOf = (raw: IncomingMessage, body?: Body, response?: ServerResponse): Request =>
  new HttpRequest(raw, body, response);

/** A class, because a literal with an accessor would cost memory for each request. */
class HttpRequest implements Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Request['headers'];
  readonly body: Uint8Array | undefined;
  readonly unread: AsyncIterable<Uint8Array> | undefined;
  readonly connection: object;
  readonly #response: ServerResponse | undefined;

  constructor(raw: IncomingMessage, body: Body, response: ServerResponse | undefined) {
    const url = raw.url ?? '/';
    const mark = url.indexOf('?');
    this.method = raw.method ?? 'GET';
    this.path = pathOf(url);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.headers = raw.headers;
    this.connection = raw.socket;
    this.body = body instanceof Uint8Array && body.length > 0 ? body : undefined;
    this.unread = body instanceof Uint8Array ? undefined : body;
    this.#response = response;
  }

  /** Computed on demand, because few requests need it. */
  get remoteAddress(): string | undefined {
    return (this.connection as Socket).remoteAddress;
  }

  onGone(run: () => void): () => void {
    const response = this.#response;
    if (response === undefined) return () => {};
    if (response.destroyed) run();
    else response.once('close', run);
    return () => response.off('close', run);
  }
}

/** The path of a target, which may be an absolute URL (RFC 9112 §3.2.2). */
export function pathOf(target: string): string {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (path.startsWith('/')) return path;
  return path.replace(/^https?:\/\/[^/]*/i, '') || '/';
}
