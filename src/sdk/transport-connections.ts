import { Agent, type ClientRequest, type IncomingMessage, request as open } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { urlToHttpOptions } from 'node:url';
import { limits } from './limits.ts';
import { type TlsTrust, tlsOptions } from './tls-trust.ts';
import type { TransportRequest } from './transport.ts';
import { pinnedTo } from './transport-names.ts';

/** The connections to one address, which stay open between requests. */
export class Connections {
  readonly #agent: Agent;
  readonly #target: object;
  readonly #ends = new Set<(code: string) => void>();
  #isClosed = false;

  constructor(origin: string, trust: TlsTrust, ip: string | undefined) {
    const { protocol, hostname, port } = urlToHttpOptions(new URL(origin));
    this.#agent = protocol === 'https:' ? secureAgent(trust) : new Agent(kept);
    this.#target = { protocol, hostname, port, ...pinnedTo(ip) };
  }

  /** Resolves with the head of the answer. Aborting ends the answer as well. */
  send(request: TransportRequest): Promise<IncomingMessage> {
    const { method, path, headers, body, signal } = request;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw coded('UND_ERR_DESTROYED');
      const sent = open({
        ...this.#target,
        agent: this.#agent,
        method,
        path,
        headers: { ...headers, ...lengthOf(body) },
      });
      let answer: IncomingMessage | undefined;
      const end = (code: string): void => {
        const error = coded(code);
        reject(error);
        (answer ?? sent).destroy(error);
      };
      const abort = (): void => end('ABORT_ERR');
      const waiting = new Waiting(end);
      this.#ends.add(end);
      signal?.addEventListener('abort', abort, { once: true });
      sent.once('close', () => {
        waiting.stop();
        this.#ends.delete(end);
        signal?.removeEventListener('abort', abort);
      });
      sent.once('response', (head) => {
        waiting.stop();
        answer = head;
        // The reader of the body is told.
        head.on('error', () => {});
        resolve(head);
      });
      // A connection that breaks while the body is still being sent may have answered before.
      sent.on('error', reject);
      waiting.follow(sent, request);
      if (typeof body !== 'object') sent.end(body);
      else pipeline(Readable.from(waiting.passing(body)), sent).catch(reject);
    });
  }

  /** Ends all requests. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end('UND_ERR_DESTROYED');
    this.#agent.destroy();
  }
}

const kept = {
  keepAlive: true,
  maxSockets: limits.connectionsMax,
  // Of a connection without a request; others have timers of their own.
  timeout: limits.keepAliveTimeoutMs,
};

/** TLS is loaded here, as few need it; an import would load it for all (tools/build.ts). */
function secureAgent(trust: TlsTrust): Agent {
  const { Agent: SecureAgent } = process.getBuiltinModule('node:https');
  if (trust.own === undefined && trust.current === undefined) {
    return new SecureAgent({ ...kept, ...tlsOptions(trust) });
  }
  // Certificates that may change are read for each connection, which does not go on with the session of another.
  const agent = new SecureAgent({ ...kept, maxCachedSessions: 0 });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) =>
    connect({ ...options, ...tlsOptions(trust) }, callback);
  return agent;
}

/** Node tells it by itself for some methods only. */
function lengthOf(body: TransportRequest['body']): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  if (typeof body === 'object') return { 'transfer-encoding': 'chunked' };
  return { 'content-length': String(Buffer.byteLength(body)) };
}

/** The time until the head of an answer: first for the connection, then since the last piece of the body went out. */
class Waiting {
  readonly #end: (code: string) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(end: (code: string) => void) {
    this.#end = end;
  }

  follow(sent: ClientRequest, { headTimeoutMs }: TransportRequest): void {
    sent.once('socket', (socket) => {
      const connected = (): void => this.#begin(headTimeoutMs, 'UND_ERR_HEADERS_TIMEOUT');
      if (!socket.connecting) return connected();
      this.#begin(limits.connectTimeoutMs, 'UND_ERR_CONNECT_TIMEOUT');
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', connected);
    });
  }

  async *passing(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const bytes of body) {
      this.#timer?.refresh();
      yield bytes;
    }
    this.#timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #begin(timeoutMs: number, code: string): void {
    this.stop();
    if (timeoutMs > 0) this.#timer = setTimeout(() => this.#end(code), timeoutMs).unref();
  }
}

export const coded = (code: string, message = code): Error =>
  Object.assign(new Error(message), { code });

/**
 * The error of a request with `UND_ERR_SOCKET` if the server ended its connection. Node gives such a request the code
 * `ECONNRESET`, as where the system reset the connection, but names no call of the system.
 */
export function broken(error: unknown): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  const isEnd = code === 'ECONNRESET' && syscall === undefined;
  return isEnd || code === 'ERR_STREAM_PREMATURE_CLOSE' ? coded('UND_ERR_SOCKET', message) : error;
}
