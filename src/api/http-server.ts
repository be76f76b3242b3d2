import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { turns } from '../base/turns.ts';
import { limits } from '../model/limits.ts';
import type { Answer, Request } from './http.ts';
import { writeAnswer } from './http-answer.ts';
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

/** A connection that had requests. */
class UsedConnection {
  /** The number of its requests so far. */
  requests = 0;
  /** Whether a handler reads the body of the last request, which may take its time. */
  isReading = false;
  /** It ends so soon after each answer; `undefined`: it is kept as long as any other. */
  briefMs: number | undefined;
}

/** A request on its connection. */
interface Exchange {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: UsedConnection;
  /** How many requests the connection had with it. */
  readonly number: number;
}

/** Error codes of the HTTP parser. */
const clientFaults: Readonly<Record<string, TransportFault>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'too-slow',
};

/** Sockets live in the turns of the real event loop, whatever the time of the world is. */
const eventLoop: EventLoop = {
  nowMs: () => performance.now(),
  soon: (run) => void setImmediate(run),
  hold: turns.hold,
  release: turns.release,
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
  readonly #used = new WeakMap<Socket, UsedConnection>();
  /** Sockets that have left HTTP for another protocol, which the server does not close. */
  readonly #upgraded = new Set<Socket>();
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
    const connection = this.#connectionOf(raw.socket);
    const number = ++connection.requests;
    connection.isReading = false;
    if (this.#isUnknown(raw.socket)) this.#refuseRequest(raw, response, 'no-client-certificate');
    else if (!hasOneHost(raw)) this.#refuseRequest(raw, response, 'unreadable');
    else if (!hasBody(raw)) this.#serve({ raw, response, connection, number }, undefined);
    else if (this.#options.readsBody(raw.method ?? 'GET', pathOf(raw.url ?? '/'))) {
      connection.isReading = true;
      this.#serve({ raw, response, connection, number }, raw);
    } else {
      receiveBody(raw, (body) => {
        if (body === undefined) this.#refuseRequest(raw, response, 'body-too-large');
        else this.#serve({ raw, response, connection, number }, body);
      });
    }
  }

  #connectionOf(socket: Socket): UsedConnection {
    let connection = this.#used.get(socket);
    if (connection === undefined) {
      connection = new UsedConnection();
      this.#used.set(socket, connection);
    }
    return connection;
  }

  #refuseRequest(raw: IncomingMessage, response: ServerResponse, fault: TransportFault): void {
    writeAnswer(response, requestOf(raw), this.#options.refuse(fault));
  }

  #serve(exchange: Exchange, body: Body): void {
    const { raw, response } = exchange;
    const request = requestOf(raw, body, response);
    const answer = this.#options.handle(request);
    if (!(answer instanceof Promise)) this.#giveAnswer(exchange, request, answer);
    else void answer.then((made) => this.#giveAnswer(exchange, request, made));
  }

  #giveAnswer(exchange: Exchange, request: Request, answer: Answer): void {
    const { keepAliveMs = exchange.connection.briefMs } = answer;
    if (keepAliveMs !== undefined) this.#endSoon(exchange, keepAliveMs);
    writeAnswer(exchange.response, request, answer);
  }

  /** Ends the connection when no request follows the answer in time. */
  #endSoon({ raw, response, connection, number }: Exchange, keepAliveMs: number): void {
    const { socket } = raw;
    connection.briefMs = keepAliveMs;
    // Clients that keep connections for their next request must not meet the end.
    if (response.shouldKeepAlive) {
      response.setHeader('connection', 'keep-alive');
      response.setHeader('keep-alive', `timeout=${Math.ceil(keepAliveMs / 1000)}`);
    }
    // Node sets its own time at the same event, before. It clears either with the next request.
    response.once('finish', () => {
      if (connection.requests === number) socket.setTimeout(keepAliveMs);
    });
  }

  /** Refuses a request that cannot be read, or that does not arrive in time. */
  #refuseUnread(error: Error & { readonly code?: string }, socket: Socket): void {
    const isReading = this.#used.get(socket)?.isReading === true;
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isReading) return;
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
