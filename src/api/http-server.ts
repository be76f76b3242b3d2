import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { limits } from '../model/limits.ts';
import type { Answer, Request } from './http.ts';
import { rawAnswer } from './raw-answer.ts';

/** A request for a WebSocket, before anything was answered. */
export type Upgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

export interface HttpServerOptions {
  readonly handle: (request: Request) => Promise<Answer>;
  /** The answer to what never became a request: a transport's fault, by its name. */
  readonly refuse: (fault: TransportFault) => Answer;
  readonly upgrade: Upgrade;
  /** Connections from one address that is not this machine's own; 0: no limit. */
  readonly connectionsPerClientMax: number;
}

export type TransportFault =
  | 'body-too-large'
  | 'headers-too-large'
  | 'too-slow'
  | 'too-many-connections'
  | 'unreadable';

/** What the parser says of a client that does not speak HTTP, or does so too slowly. */
const clientFaults: Readonly<Record<string, TransportFault>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'too-slow',
};

const compress = promisify(gzip);

/** Serves framework-free routes over HTTP. Listening, bodies and closing are the framework's. */
export class HttpServer {
  readonly #app: FastifyInstance;

  constructor(options: HttpServerOptions) {
    const app = fastify({
      logger: false,
      exposeHeadRoutes: false,
      bodyLimit: limits.http.jobBodyBytesMax,
      requestTimeout: limits.http.bodyTimeoutMs,
      keepAliveTimeout: limits.http.keepAliveTimeoutMs,
      forceCloseConnections: true,
      routerOptions: { maxParamLength: limits.http.urlBytesMax, ignoreDuplicateSlashes: false },
      http: {
        maxHeaderSize: limits.http.headerBytesMax,
        headersTimeout: limits.http.headersTimeoutMs,
      },
      frameworkErrors: (_error, request, reply) => refuse(request.raw, reply, 'unreadable'),
      clientErrorHandler: (error, socket) => {
        if (!socket.writable) return;
        const fault = clientFaults[error.code ?? ''] ?? 'unreadable';
        socket.end(rawAnswer(options.refuse(fault)));
      },
    });
    const refuse = (raw: IncomingMessage, reply: FastifyReply, fault: TransportFault) => {
      reply.hijack();
      write(reply.raw, requestOf(raw), options.refuse(fault));
    };

    // Every content type is read the same way: the body is what it is (DESIGN §5 "Bodies").
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
      refuse(request.raw, reply, error.statusCode === 413 ? 'body-too-large' : 'unreadable');
    });
    app.route({
      method: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'],
      url: '/*',
      handler: (incoming, reply) => {
        reply.hijack();
        const request = requestOf(incoming.raw, incoming.body as Uint8Array | undefined, reply.raw);
        void options.handle(request).then((answer) => write(reply.raw, request, answer));
      },
    });
    app.server.maxConnections = limits.http.connectionsMax;
    app.server.on('connection', limitPerClient(options));
    app.server.on('upgrade', options.upgrade);
    this.#app = app;
  }

  /** Resolves with the port that was taken. Rejects with the system's error (`EADDRINUSE` …). */
  async listen(host: string, port: number): Promise<number> {
    await this.#app.listen({ host, port, backlog: limits.http.connectionBacklog });
    return (this.#app.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await this.#app.close();
  }
}

/** The request as the pipeline knows it. Without a response nobody can tell when it is gone. */
export function requestOf(
  raw: IncomingMessage,
  body?: Uint8Array,
  response?: ServerResponse,
): Request {
  const url = raw.url ?? '/';
  const mark = url.indexOf('?');
  let gone: AbortController | undefined;
  return {
    method: raw.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
    headers: raw.headers,
    body: body === undefined || body.length === 0 ? undefined : body,
    /** Made only for those that ask, since most answers are given at once. */
    get signal() {
      if (gone === undefined && response !== undefined) {
        const made = new AbortController();
        gone = made;
        response.once('close', () => made.abort());
      }
      return gone?.signal;
    },
  };
}

function write(response: ServerResponse, request: Request, answer: Answer): void {
  if (response.destroyed || response.headersSent) return;
  const { status, headers, body } = answer;
  if (body === undefined) {
    response.writeHead(status, { ...headers, 'content-length': 0 }).end();
  } else if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    writeStream(response, answer, body);
  } else if (body.length >= limits.http.compressBytesMin && acceptsGzip(request)) {
    void writeCompressed(response, answer, body);
  } else {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    response.writeHead(status, { ...headers, 'content-length': length }).end(body);
  }
}

function writeStream(
  response: ServerResponse,
  { status, headers }: Answer,
  body: AsyncIterable<Uint8Array>,
): void {
  response.writeHead(status, headers);
  response.flushHeaders();
  // A reader that goes away ends the source, and a source that fails cuts the connection.
  Readable.from(body, { objectMode: false, highWaterMark: 1 })
    .on('error', () => response.destroy())
    .on('close', () => response.end())
    .pipe(response);
}

async function writeCompressed(
  response: ServerResponse,
  { status, headers }: Answer,
  body: string | Uint8Array,
): Promise<void> {
  const packed = await compress(body);
  const how = { 'content-encoding': 'gzip', vary: 'accept-encoding' };
  response.writeHead(status, { ...headers, ...how, 'content-length': packed.length }).end(packed);
}

function acceptsGzip(request: Request): boolean {
  const accepted = request.headers['accept-encoding'];
  return (
    accepted !== undefined &&
    /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/.test(String(accepted))
  );
}

/** Refuses connections over the limit with a 429, before anything is read from them. */
function limitPerClient(options: HttpServerOptions): (socket: Socket) => void {
  const most = options.connectionsPerClientMax;
  const open = new Map<string, number>();
  return (socket) => {
    const address = socket.remoteAddress ?? '';
    if (most === 0 || /^(127\.|::1$|::ffff:127\.)/.test(address)) return;
    const count = (open.get(address) ?? 0) + 1;
    if (count > most) {
      socket.end(rawAnswer(options.refuse('too-many-connections')));
      return;
    }
    open.set(address, count);
    socket.once('close', () => {
      const left = open.get(address)! - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  };
}
