import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { limits } from '../model/limits.ts';
import { type Answer, isPushed, jsonType, type Request } from './http.ts';
import { Arrivals, type EventLoop } from './http-arrivals.ts';
import { type Body, hasBody, hasOneHost, pathOf, receiveBody, requestOf } from './http-request.ts';
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

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Whether other threads listen on the port as well. Then the system spreads connections over them. */
  readonly isShared?: boolean;
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

/** Sockets live in the turns of the real event loop, whatever the time of the world is. */
const eventLoop: EventLoop = {
  nowMs: () => performance.now(),
  soon: (run) => void setImmediate(run),
};

/**
 * The HTTP adapter. It listens, bounds requests, reads bodies and closes connections. Methods, paths and
 * content types are left to the routes, so that they also hold without a port.
 */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  #certificate: ServerCertificate | undefined;
  /** Connections with a valid client certificate, if the server requires one. */
  readonly #known = new WeakSet<object>();
  /** Connections on which a handler reads a body, which may take its time. */
  readonly #reading = new WeakSet<object>();
  /** Sockets that have left HTTP for another protocol, which the server does not close. */
  readonly #upgraded = new Set<Socket>();
  /** Connections that end so soon after each answer. */
  readonly #brief = new WeakMap<Socket, number>();
  /** The last request of each connection, whose body may be on its way. */
  readonly #lastRequests = new WeakMap<Socket, IncomingMessage>();
  #connections = 0;
  #isClosing = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#certificate = options.certificate;
    const server = newServer(options);
    server.on('connection', (socket: Socket) => {
      this.#connections++;
      socket.once('close', () => this.#connections--);
    });
    server.on('request', (raw, response) => this.#takeRequest(raw, response));
    server.on('clientError', (error, socket) => this.#refuseUnread(error, socket as Socket));
    server.on('upgrade', (raw: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#upgraded.add(socket);
      socket.once('close', () => this.#upgraded.delete(socket));
      if (this.#isClosing) return void socket.destroy();
      const isUnknown = this.#isUnknown(socket) && options.upgrade.provesItself?.(raw) !== true;
      if (isUnknown) hangUp(socket, options.refuse('no-client-certificate'));
      else if (!hasOneHost(raw)) hangUp(socket, options.refuse('unreadable'));
      else options.upgrade.take(raw, socket, head);
    });
    server.on('connect', (raw: IncomingMessage, socket: Socket) => {
      ownSocket(socket);
      if (this.#isUnknown(socket)) return hangUp(socket, options.refuse('no-client-certificate'));
      void Promise.resolve(options.handle(requestOf(raw))).then((answer) => hangUp(socket, answer));
    });
    limitPerClient(server, options);
    server.on('secureConnection', (socket: TLSSocket) => this.#meetClient(socket));
    this.#server = server;
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#connections;
  }

  /** Checks a request, and reads its body unless the handler does so itself. */
  #takeRequest(raw: IncomingMessage, response: ServerResponse): void {
    const { socket } = raw;
    const refuse = (fault: TransportFault): void =>
      write(response, requestOf(raw), this.#options.refuse(fault));
    this.#reading.delete(socket);
    this.#lastRequests.set(socket, raw);
    if (this.#isUnknown(socket)) refuse('no-client-certificate');
    else if (!hasOneHost(raw)) refuse('unreadable');
    else if (!hasBody(raw)) this.#serve(raw, response, undefined);
    else if (this.#options.readsBody(raw.method ?? 'GET', pathOf(raw.url ?? '/'))) {
      this.#reading.add(socket);
      this.#serve(raw, response, raw);
    } else {
      receiveBody(raw, (body) => {
        if (body === undefined) refuse('body-too-large');
        else this.#serve(raw, response, body);
      });
    }
  }

  #serve(raw: IncomingMessage, response: ServerResponse, body: Body): void {
    const request = requestOf(raw, body, response);
    const answer = this.#options.handle(request);
    const give = (made: Answer): void => {
      const { keepAliveMs = this.#brief.get(raw.socket) } = made;
      if (keepAliveMs !== undefined) this.#endSoon(raw, response, keepAliveMs);
      write(response, request, made);
    };
    if (answer instanceof Promise) void answer.then(give);
    else give(answer);
  }

  /** Ends the connection when no request follows the answer in time. */
  #endSoon(raw: IncomingMessage, response: ServerResponse, keepAliveMs: number): void {
    const { socket } = raw;
    this.#brief.set(socket, keepAliveMs);
    // Clients that keep connections for their next request must not meet the end.
    if (response.shouldKeepAlive) {
      response.setHeader('connection', 'keep-alive');
      response.setHeader('keep-alive', `timeout=${Math.ceil(keepAliveMs / 1000)}`);
    }
    // Node sets its own time at the same event, before. It clears either with the next request.
    response.once('finish', () => {
      if (this.#lastRequests.get(socket) === raw) socket.setTimeout(keepAliveMs);
    });
  }

  /** Refuses a request that cannot be read, or that does not arrive in time. */
  #refuseUnread(error: Error & { readonly code?: string }, socket: Socket): void {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && this.#reading.has(socket)) return;
    // Nothing can be sent before the TLS handshake is complete. An answer on a spare connection,
    // which has no request, would look like a fault to its client.
    if (isUnfinished(socket) || socket.bytesRead === 0) socket.destroy();
    else hangUp(socket, this.#options.refuse(clientFaults[error.code ?? ''] ?? 'unreadable'));
  }

  /** Open connections keep the old certificate. */
  renew(certificate: ServerCertificate): void {
    (this.#server as SecureServer).setSecureContext(contextOf(certificate));
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
  async listen({ host, port, isShared = false }: Listening): Promise<number> {
    const { connectionBacklog: backlog } = limits.http;
    this.#server.listen({ host, port, backlog, reusePort: isShared });
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends all connections, also those whose other side does not answer any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const socket of this.#upgraded) {
      ownSocket(socket, limits.http.stopGraceMs);
      socket.destroySoon();
    }
    // The queries that have just ended are answered before their connections end.
    await new Promise<void>((resolve) => eventLoop.soon(resolve));
    const closed = new Promise<unknown>((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

/** A server with the bounds of requests and connections. */
function newServer({ certificate, upgrade }: HttpServerOptions): Server {
  const protocol = {
    maxHeaderSize: limits.http.headerBytesMax,
    headersTimeout: limits.http.headersTimeoutMs,
    requestTimeout: limits.http.bodyTimeoutMs,
    keepAliveTimeout: limits.http.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.http.timeoutCheckMs,
    optimizeEmptyRequests: true,
    requireHostHeader: false,
    shouldUpgradeCallback: upgrade.isAsked,
  };
  const server =
    certificate === undefined
      ? createServer(protocol)
      : createSecureServer({ ...protocol, ...tlsOptionsOf(certificate) });
  server.maxConnections = limits.http.connectionsMax;
  return server;
}

function write(response: ServerResponse, request: Request, answer: Answer): void {
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
    response.writeHead(status, linesOf(headers, length)).end(body);
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
  const arrivals = new Arrivals(eventLoop, (socket) => {
    if (!server.listening) socket.destroy();
    else for (const listener of serve) listener.call(server, socket);
  });
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
    arrivals.add(socket);
  });
}

/** A connection whose TLS handshake is not complete. */
const isUnfinished = (socket: Socket): boolean =>
  'getCipher' in socket && (socket as TLSSocket).getCipher() === undefined;

/** Whether an address or host name is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  /^(127\.|::1$|::ffff:127\.|localhost$)/.test(host);
