import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { limits } from '../model/limits.ts';
import { textOf } from './encode.ts';
import { type Answer, isPushed, jsonType, type Request } from './http.ts';

const compress = promisify(gzip);

/** Writes an answer to its connection, unless one was begun there before. */
export function writeAnswer(response: ServerResponse, request: Request, answer: Answer): void {
  if (response.destroyed || response.headersSent) return;
  const { status, headers, body } = answer;
  if (status === notModified) {
    // The length would be that of the body that the client has (RFC 9110 §8.6).
    response.writeHead(status, headers).end();
  } else if (body === undefined) {
    response.writeHead(status, linesOf(headers, 0)).end();
  } else if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    if (isPushed(body)) body.writeTo(response.writeHead(status, headers));
    else writeStream(response, request, answer, body);
  } else if (
    body.length >= limits.http.compressBytesMin &&
    headers['content-encoding'] === undefined &&
    acceptsGzip(request)
  ) {
    void writeCompressed(response, answer, body);
  } else {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    response.writeHead(status, linesOf(headers, length));
    // Node sends a text together with the headers, but bytes by themselves, which takes it longer.
    const text = typeof body === 'string' ? undefined : textOf(body);
    if (text === undefined) response.end(body);
    else response.end(text, 'latin1');
  }
}

/** Names and values in turn: the form that costs `writeHead` the least. */
function linesOf(headers: Answer['headers'], length: number): string[] {
  const lines: string[] = [];
  for (const name in headers) lines.push(name, headers[name]!);
  lines.push('content-length', String(length));
  return lines;
}

function writeStream(
  response: ServerResponse,
  request: Request,
  { status, headers }: Answer,
  body: AsyncIterable<Uint8Array>,
): void {
  // Long lists are compressed. Other streams are not, because each part has to arrive at once.
  const packs = headers['content-type'] === jsonType['content-type'] && acceptsGzip(request);
  response.writeHead(status, packs ? { ...headers, ...packed } : headers);
  response.flushHeaders();
  const source = Readable.from(body, { objectMode: false, highWaterMark: 1 });
  // If the reader leaves, the source ends; if the source fails, the connection is cut.
  const over = () => {};
  if (packs) pipeline(source, createGzip(), response, over);
  else pipeline(source, response, over);
}

/** Not in limits: a status (RFC 9110 §15.4.5). */
const notModified = 304;

const packed = { 'content-encoding': 'gzip', vary: 'accept-encoding' };

async function writeCompressed(
  response: ServerResponse,
  { status, headers }: Answer,
  body: string | Uint8Array,
): Promise<void> {
  const bytes = await compress(body);
  response.writeHead(status, linesOf({ ...headers, ...packed }, bytes.length)).end(bytes);
}

function acceptsGzip(request: Request): boolean {
  const accepted = request.headers['accept-encoding'];
  return (
    accepted !== undefined &&
    /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/.test(String(accepted))
  );
}
