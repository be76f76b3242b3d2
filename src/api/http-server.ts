import { type IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { limits } from '../model/limits.ts';
import { type Answer, jsonType, type Request } from './http.ts';
import { hangUp, ownSocket } from './raw-answer.ts';
import {
  contextOf,
  fingerprintOf,
  type ServerCertificate,
  tlsOptionsOf,
} from './server-certificate.ts';

/** Handles requests for a WebSocket. */
export interface Upgrade {
  /** Other requests are answered in the usual way. */
  readonly isAsked: (request: IncomingMessage) => boolean;
  /** Whether the client proves itself in another way than by a certificate. */
  readonly provesItself?: (request: IncomingMessage) => boolean;
  /** Takes over the socket. */
  readonly take: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
}

export interface HttpServerOptions {
  readonly handle: (request: Request) => Answer | Promise<Answer>;
  /** Whether the handler reads the body of such a request itself. */
  readonly readsBody: (method: string, path: string) => boolean;
  /** The answer to a fault of the transport, before there is a request. */
  readonly refuse: (fault: TransportFault) => Answer;
  readonly upgrade: Upgrade;
  readonly connections: ConnectionLimits;
  /** `undefined`: the server does not use TLS. */
  readonly certificate?: ServerCertificate | undefined;
}

/** The greatest number of connections from one address; 0: no limit. */
export interface ConnectionLimits {
  readonly perAddressMax: number;
  /**
   * Addresses of the machine itself have a limit of their own, for its node agents and its users.
   */
  readonly perLoopbackMax: number;
}

export type TransportFault =
  | 'body-too-large'
  | 'headers-too-large'
  | 'too-slow'
  | 'too-many-connections'
  | 'no-client-certificate'
  | 'unreadable';

/** Error codes of the HTTP parser. */
const clientFaults: Readonly<Record<string, TransportFault>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'too-slow',
};

const compress = promisify(gzip);

/** The framework keeps the target here when it is rewritten. */
/** Read already, or to be read by the handler. */
type Body = Uint8Array | AsyncIterable<Uint8Array> | undefined;

type Incoming = IncomingMessage & { readonly originalUrl?: string };

/**
 * The HTTP adapter. The framework listens, bounds requests, reads bodies and closes connections.
 * Methods, paths and content types are left to the routes, so that they also hold without a port.
 */
export class HttpServer {
  readonly #app: FastifyInstance;
  #certificate: ServerCertificate | undefined;
  /** Connections with a valid client certificate, if the server requires one. */
  readonly #known = new WeakSet<object>();
  /** Sockets that have left the framework for another protocol, which it does not close. */
  readonly #upgraded = new Set<Socket>();
  #isClosing = false;

  constructor(options: HttpServerOptions) {
    this.#certificate = options.certificate;
    const app = newFramework(options);
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
    // By default the framework demands a content type for QUERY, even without a route.
    app.addHttpMethod('QUERY', { overrideExisting: true });
    const handle = ({ raw }: FastifyRequest, reply: FastifyReply, body: Body) => {
      if (this.#isUnknown(raw.socket)) return refuse(raw, reply, 'no-client-certificate');
      if (!hasOneHost(raw)) return refuse(raw, reply, 'unreadable');
      reply.hijack();
      const request = requestOf(raw, body, reply.raw);
      const answer = options.handle(request);
      if (answer instanceof Promise) void answer.then((made) => write(reply.raw, request, made));
      else write(reply.raw, request, answer);
    };
    app.all('/', (incoming, reply) => handle(incoming, reply, incoming.body as Body));
    void app.register(async (unread) => {
      unread.removeAllContentTypeParsers();
      unread.addContentTypeParser('*', (_request, body, done) => done(null, body));
      unread.all(unreadRoute, (incoming, reply) => {
        handle(incoming, reply, incoming.body as Body);
      });
    });
    app.server.maxConnections = limits.http.connectionsMax;
    app.server.on('upgrade', (raw: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#upgraded.add(socket);
      socket.once('close', () => this.#upgraded.delete(socket));
      if (this.#isClosing) return void socket.destroy();
      const isUnknown = this.#isUnknown(socket) && options.upgrade.provesItself?.(raw) !== true;
      if (isUnknown) hangUp(socket, options.refuse('no-client-certificate'));
      else if (!hasOneHost(raw)) hangUp(socket, options.refuse('unreadable'));
      else options.upgrade.take(raw, socket, head);
    });
    app.server.on('connect', (raw: IncomingMessage, socket: Socket) => {
      ownSocket(socket);
      if (this.#isUnknown(socket)) return hangUp(socket, options.refuse('no-client-certificate'));
      void Promise.resolve(options.handle(requestOf(raw))).then((answer) => hangUp(socket, answer));
    });
    limitPerClient(app.server, options);
    app.server.on('secureConnection', (socket: TLSSocket) => this.#meetClient(socket));
    this.#app = app;
  }

  /** Open connections keep the old certificate. */
  renew(certificate: ServerCertificate): void {
    (this.#app.server as unknown as SecureServer).setSecureContext(contextOf(certificate));
    this.#certificate = certificate;
  }

  /**
   * The agent's own node presents the server's certificate, which need not be valid for clients.
   */
  #meetClient(socket: TLSSocket): void {
    if (!this.#certificate?.verifiesClients) return;
    const shown = socket.getPeerX509Certificate()?.fingerprint256;
    if (socket.authorized || shown === fingerprintOf(this.#certificate)) this.#known.add(socket);
  }

  #isUnknown(socket: Socket): boolean {
    return this.#certificate?.verifiesClients === true && !this.#known.has(socket);
  }

  /** Resolves with the port. Rejects with the system's error (`EADDRINUSE` …). */
  async listen(host: string, port: number): Promise<number> {
    await this.#app.listen({ host, port, backlog: limits.http.connectionBacklog });
    return (this.#app.server.address() as AddressInfo).port;
  }

  /** Ends all connections, also those whose other side does not answer any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const socket of this.#upgraded) {
      ownSocket(socket, limits.http.stopGraceMs);
      socket.destroySoon();
    }
    await this.#app.close();
  }
}

/** The framework with the bounds of requests. It has no routes yet. */
function newFramework(options: HttpServerOptions): FastifyInstance {
  const { certificate, upgrade, refuse } = options;
  /** Connections on which a handler reads a body, which may take its time. */
  const reading = new WeakSet<object>();
  const protocol = {
    maxHeaderSize: limits.http.headerBytesMax,
    headersTimeout: limits.http.headersTimeoutMs,
    connectionsCheckingInterval: limits.http.timeoutCheckMs,
    optimizeEmptyRequests: true,
    requireHostHeader: false,
    shouldUpgradeCallback: upgrade.isAsked,
  };
  return fastify({
    logger: false,
    exposeHeadRoutes: false,
    bodyLimit: limits.http.jobBodyBytesMax,
    requestTimeout: limits.http.bodyTimeoutMs,
    keepAliveTimeout: limits.http.keepAliveTimeoutMs,
    forceCloseConnections: true,
    // Unused: the pipeline gives failed requests an id.
    genReqId: () => '',
    rewriteUrl: (incoming) => {
      const { method = 'GET', url = '/', socket } = incoming;
      const isUnread = options.readsBody(method, pathOf(url));
      if (isUnread) reading.add(socket);
      else reading.delete(socket);
      return toRoute(incoming, isUnread);
    },
    ...(certificate === undefined
      ? { http: protocol }
      : { https: { ...protocol, ...tlsOptionsOf(certificate) } }),
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && reading.has(socket)) return;
      // Nothing can be sent before the TLS handshake is complete. An answer on a spare connection,
      // which has no request, would look like a fault to its client.
      if (isUnfinished(socket as Socket) || (socket as Socket).bytesRead === 0) socket.destroy();
      else hangUp(socket as Socket, refuse(clientFaults[error.code ?? ''] ?? 'unreadable'));
    },
  }) as FastifyInstance;
}

const unreadRoute = '/unread';

/**
 * The framework has two routes: it reads the bodies of the first, and leaves those of the second to the
 * endpoint. It sees no content type, because no content type is an error (docs/contract/http.md#bodies).
 */
function toRoute({ headers }: IncomingMessage, isUnread: boolean): string {
  if (headers['content-type'] !== undefined) headers['content-type'] = undefined;
  return isUnread ? unreadRoute : '/';
}

/** RFC 9112 §3.2: a proxy in between must not see another host than the server does. */
function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/** The pipeline's form of a request. Without a response, `onGone` never reports. */
export const requestOf = (raw: Incoming, body?: Body, response?: ServerResponse): Request =>
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

  constructor(raw: Incoming, body: Body, response: ServerResponse | undefined) {
    const url = raw.originalUrl ?? raw.url ?? '/';
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
 * Refuses connections above the limit with a 429. They never reach the HTTP server, which would
 * answer their requests.
 */
function limitPerClient(server: Server, options: HttpServerOptions): void {
  const { perAddressMax, perLoopbackMax } = options.connections;
  const refuse = (socket: Socket): void => {
    // The client expects a handshake and could not read an answer.
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

/** A connection whose TLS handshake is not complete. */
const isUnfinished = (socket: Socket): boolean =>
  'getCipher' in socket && (socket as TLSSocket).getCipher() === undefined;

/** Whether an address or host name is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  /^(127\.|::1$|::ffff:127\.|localhost$)/.test(host);
