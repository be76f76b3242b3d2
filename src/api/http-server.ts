import { type IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { limits } from '../model/limits.ts';
import { type Answer, jsonType, type Request } from './http.ts';
import { hangUp, ownSocket } from './raw-answer.ts';
import {
  contextOf,
  fingerprintOf,
  type ServerCertificate,
  tlsOptionsOf,
} from './server-certificate.ts';

/** Requests for a WebSocket, before anything was answered. */
export interface Upgrade {
  /** Whether this is one; what is none is served like every other request. */
  readonly isAsked: (request: IncomingMessage) => boolean;
  /** Owns the socket from here on. */
  readonly take: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
}

export interface HttpServerOptions {
  readonly handle: (request: Request) => Answer | Promise<Answer>;
  /** The answer to what never became a request: a transport's fault, by its name. */
  readonly refuse: (fault: TransportFault) => Answer;
  readonly upgrade: Upgrade;
  readonly connections: ConnectionLimits;
  /** What TLS is spoken with; `undefined`: none is. */
  readonly certificate?: ServerCertificate | undefined;
}

/** How many connections one address may hold; 0: no limit. */
export interface ConnectionLimits {
  readonly perAddressMax: number;
  /** Of the machine itself, where node agents live and people try things out. */
  readonly perLoopbackMax: number;
}

export type TransportFault =
  | 'body-too-large'
  | 'headers-too-large'
  | 'too-slow'
  | 'too-many-connections'
  | 'no-client-certificate'
  | 'unreadable';

/** What the parser says of a client that does not speak HTTP, or does so too slowly. */
const clientFaults: Readonly<Record<string, TransportFault>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'too-slow',
};

const compress = promisify(gzip);

/** The framework keeps the target here when it is rewritten. */
type Incoming = IncomingMessage & { readonly originalUrl?: string };

/**
 * Serves framework-free routes over HTTP. Listening, limits, bodies and closing are the
 * framework's; methods, paths and content types are the routes', so that they mean the same
 * without a port.
 */
export class HttpServer {
  readonly #app: FastifyInstance;
  #certificate: ServerCertificate | undefined;
  /** Connections of those who showed a certificate, where one is asked for. */
  readonly #known = new WeakSet<object>();

  constructor(options: HttpServerOptions) {
    this.#certificate = options.certificate;
    const protocol = {
      maxHeaderSize: limits.http.headerBytesMax,
      headersTimeout: limits.http.headersTimeoutMs,
      connectionsCheckingInterval: limits.http.timeoutCheckMs,
      optimizeEmptyRequests: true,
      requireHostHeader: false,
      shouldUpgradeCallback: options.upgrade.isAsked,
    };
    const app = fastify({
      logger: false,
      exposeHeadRoutes: false,
      bodyLimit: limits.http.jobBodyBytesMax,
      requestTimeout: limits.http.bodyTimeoutMs,
      keepAliveTimeout: limits.http.keepAliveTimeoutMs,
      forceCloseConnections: true,
      // Nobody reads these ids: the pipeline gives its own to what fails.
      genReqId: () => '',
      rewriteUrl: toOnlyRoute,
      ...(options.certificate === undefined
        ? { http: protocol }
        : { https: { ...protocol, ...tlsOptionsOf(options.certificate) } }),
      clientErrorHandler: (error, socket) => {
        // A client without a handshake understands no answer, and one that keeps connections in
        // reserve takes an answer to nothing for a fault.
        if (isUnfinished(socket as Socket) || (socket as Socket).bytesRead === 0) socket.destroy();
        else
          hangUp(socket as Socket, options.refuse(clientFaults[error.code ?? ''] ?? 'unreadable'));
      },
    }) as FastifyInstance;
    const refuse = (raw: IncomingMessage, reply: FastifyReply, fault: TransportFault) => {
      reply.hijack();
      write(reply.raw, requestOf(raw), options.refuse(fault));
    };

    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
      refuse(request.raw, reply, error.statusCode === 413 ? 'body-too-large' : 'unreadable');
    });
    for (const method of METHODS) {
      if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
    }
    // The framework demands a content type of this one, before anybody knows whether it is served.
    app.addHttpMethod('QUERY', { overrideExisting: true });
    app.all('/', (incoming, reply) => {
      const { raw } = incoming;
      if (this.#isUnknown(raw.socket)) return refuse(raw, reply, 'no-client-certificate');
      if (!hasOneHost(raw)) return refuse(raw, reply, 'unreadable');
      reply.hijack();
      const request = requestOf(raw, incoming.body as Uint8Array | undefined, reply.raw);
      const answer = options.handle(request);
      if (answer instanceof Promise) void answer.then((made) => write(reply.raw, request, made));
      else write(reply.raw, request, answer);
    });
    app.server.maxConnections = limits.http.connectionsMax;
    app.server.on('upgrade', (raw: IncomingMessage, socket: Socket, head: Buffer) => {
      if (this.#isUnknown(socket)) hangUp(socket, options.refuse('no-client-certificate'));
      else if (!hasOneHost(raw)) hangUp(socket, options.refuse('unreadable'));
      else options.upgrade.take(raw, socket, head);
    });
    app.server.on('connect', (raw: IncomingMessage, socket: Socket) => {
      ownSocket(socket);
      if (this.#isUnknown(socket)) return hangUp(socket, options.refuse('no-client-certificate'));
      void Promise.resolve(options.handle(requestOf(raw))).then((answer) => hangUp(socket, answer));
    });
    limitPerClient(app.server, options);
    app.server.on('secureConnection', (socket: TLSSocket) => this.#meet(socket));
    this.#app = app;
  }

  /** Connections that are open go on as they are; the next ones have the new certificate. */
  renew(certificate: ServerCertificate): void {
    (this.#app.server as unknown as SecureServer).setSecureContext(contextOf(certificate));
    this.#certificate = certificate;
  }

  /** The agent's own node shows the server's certificate, which says nothing of being a client's. */
  #meet(socket: TLSSocket): void {
    if (!this.#certificate?.verifiesClients) return;
    const shown = socket.getPeerX509Certificate()?.fingerprint256;
    if (socket.authorized || shown === fingerprintOf(this.#certificate)) this.#known.add(socket);
  }

  #isUnknown(socket: Socket): boolean {
    return this.#certificate?.verifiesClients === true && !this.#known.has(socket);
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

/**
 * To the framework every target is the same, and a content type is nothing that a request could
 * get wrong (docs/contract/http.md#bodies).
 */
function toOnlyRoute({ headers }: IncomingMessage): string {
  if (headers['content-type'] !== undefined) headers['content-type'] = undefined;
  return '/';
}

/** RFC 9112 §3.2: who stands between must not take another one for the host than the server does. */
function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/** The request as the pipeline knows it. Without a response nobody can tell when it is gone. */
export const requestOf = (raw: Incoming, body?: Uint8Array, response?: ServerResponse): Request =>
  new HttpRequest(raw, body, response);

/** A class, since an accessor in a literal costs every request a shape that outlives it. */
class HttpRequest implements Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Request['headers'];
  readonly body: Uint8Array | undefined;
  readonly connection: object;
  readonly #response: ServerResponse | undefined;

  constructor(raw: Incoming, body: Uint8Array | undefined, response: ServerResponse | undefined) {
    const url = raw.originalUrl ?? raw.url ?? '/';
    const mark = url.indexOf('?');
    this.method = raw.method ?? 'GET';
    this.path = pathOf(url);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.headers = raw.headers;
    this.connection = raw.socket;
    this.body = body === undefined || body.length === 0 ? undefined : body;
    this.#response = response;
  }

  /** Asked for when somebody wants to know: most never do. */
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

/** The path of a target, also where that is a whole URL (RFC 9112 §3.2.2). */
export function pathOf(target: string): string {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (path.startsWith('/')) return path;
  return path.replace(/^https?:\/\/[^/]*/i, '') || '/';
}

function write(response: ServerResponse, request: Request, answer: Answer): void {
  if (response.destroyed || response.headersSent) return;
  const { status, headers, body } = answer;
  if (body === undefined) {
    response.writeHead(status, { ...headers, 'content-length': 0 }).end();
  } else if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    writeStream(response, request, answer, body);
  } else if (body.length >= limits.http.compressBytesMin && acceptsGzip(request)) {
    void writeCompressed(response, answer, body);
  } else {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    response.writeHead(status, { ...headers, 'content-length': length }).end(body);
  }
}

function writeStream(
  response: ServerResponse,
  request: Request,
  { status, headers }: Answer,
  body: AsyncIterable<Uint8Array>,
): void {
  // A long list; of what comes while it happens every part is wanted at once.
  const packs = headers['content-type'] === jsonType['content-type'] && acceptsGzip(request);
  response.writeHead(status, packs ? { ...headers, ...packed } : headers);
  response.flushHeaders();
  const source = Readable.from(body, { objectMode: false, highWaterMark: 1 });
  // A reader that goes away ends the source, and a source that fails cuts the connection.
  const over = () => {};
  if (packs) pipeline(source, createGzip(), response, over);
  else pipeline(source, response, over);
}

const packed = { 'content-encoding': 'gzip', vary: 'accept-encoding' };

async function writeCompressed(
  response: ServerResponse,
  { status, headers }: Answer,
  body: string | Uint8Array,
): Promise<void> {
  const bytes = await compress(body);
  const length = { 'content-length': bytes.length };
  response.writeHead(status, { ...headers, ...packed, ...length }).end(bytes);
}

function acceptsGzip(request: Request): boolean {
  const accepted = request.headers['accept-encoding'];
  return (
    accepted !== undefined &&
    /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/.test(String(accepted))
  );
}

/**
 * Refuses connections over the limit with a 429. Only those that are let in ever reach the HTTP
 * server, which would serve whatever they ask.
 */
function limitPerClient(server: Server, options: HttpServerOptions): void {
  const { perAddressMax, perLoopbackMax } = options.connections;
  const refuse = (socket: Socket): void => {
    // Without a handshake there is nothing that such a client would understand.
    if (options.certificate !== undefined) socket.destroy();
    else hangUp(socket, options.refuse('too-many-connections'));
  };
  const open = new Map<string, number>();
  const serve = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const most = isLoopback(address) ? perLoopbackMax : perAddressMax;
    if (most > 0) {
      const count = (open.get(address) ?? 0) + 1;
      if (count > most) return refuse(socket);
      open.set(address, count);
      socket.once('close', () => {
        const left = open.get(address)! - 1;
        if (left === 0) open.delete(address);
        else open.set(address, left);
      });
    }
    for (const listener of serve) listener.call(server, socket);
  });
}

/** A connection that was to be one with TLS, and is none. */
const isUnfinished = (socket: Socket): boolean =>
  'getCipher' in socket && (socket as TLSSocket).getCipher() === undefined;

/** Whether only this machine reaches an address, or what has the name. */
export const isLoopback = (host: string): boolean =>
  /^(127\.|::1$|::ffff:127\.|localhost$)/.test(host);
