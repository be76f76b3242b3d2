/** The client of an agent in the same process: the SDK over `Agent.handle`, without a port. */
import type { Answer, Request } from './api/http.ts';
import { delay, type World } from './base/ports.ts';
import { type Client, type ClientOptions, createClient } from './sdk/client.ts';
import { ConnectionError, connectionError } from './sdk/errors.ts';
import type { Transport, TransportRequest } from './sdk/transport.ts';

/** As the options of a client over HTTP; the default of `token` is the root token. */
export type AgentClientOptions = Pick<ClientOptions, 'token' | 'namespace' | 'partition'>;

export type Handle = (request: Request) => Promise<Answer>;

/** For messages; nothing listens there. */
const address = 'http://roster.in-process';

type Ports = Pick<World, 'timers' | 'ids'>;

interface CallersOptions extends Ports {
  readonly handle: Handle;
  readonly rootToken: string | undefined;
}

/** Callers of an agent in its own process. */
export interface WithClient {
  /** The client of the API, without a port. It has no WebSockets, so no `exec`. */
  client(options?: AgentClientOptions): Client;
}

/** The callers of an agent in its own process, until it is closed. */
class InProcessCallers {
  readonly #options: CallersOptions;
  readonly #clients: Client[] = [];
  #isClosed = false;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  /** Rejects when the agent is closed. */
  readonly handle: Handle = async (request) => {
    if (this.#isClosed) throw new Error('The agent is closed.');
    return this.#options.handle(request);
  };

  /** A client whose requests are function calls. It has no WebSockets, so no `exec`. */
  readonly client = (options: AgentClientOptions = {}): Client => {
    const { rootToken, ...ports } = this.#options;
    const transport = inProcessTransport(this.handle, ports);
    const client = createClient({ token: rootToken, ...options, address, transport });
    this.#clients.push(client);
    return client;
  };

  /** Ends all requests of the clients. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
  }
}

export const callersOf = (
  api: { handle(request: Request): Answer | Promise<Answer> },
  { timers, ids }: Ports,
  rootToken: string | undefined,
): InProcessCallers =>
  new InProcessCallers({ timers, ids, rootToken, handle: async (request) => api.handle(request) });

export function inProcessTransport(handle: Handle, { timers, ids }: Ports): Transport {
  const closed = new AbortController();
  const connection = {};
  return {
    repeats: {
      newKey: () => ids.uuid(),
      pause: (delayMs, signal) => delay(timers, delayMs, signal),
    },
    async send(request) {
      const call = new Call(request.signal);
      const timeout =
        request.headTimeoutMs > 0 &&
        timers.after(request.headTimeoutMs, () => call.fail('UND_ERR_HEADERS_TIMEOUT'));
      const end = () => call.fail('UND_ERR_DESTROYED');
      closed.signal.addEventListener('abort', end, { once: true });
      if (closed.signal.aborted) end();
      try {
        const answer = await call.unlessOver(() =>
          handle({ ...requestOf(request), connection, onGone: (run) => call.onGone(run) }),
        );
        call.answered(answer);
        return { ...answer, body: call.bodyOf(answer) };
      } finally {
        if (timeout) timeout.clear();
        closed.signal.removeEventListener('abort', end);
      }
    },
    async openSocket() {
      throw new ConnectionError(address, 'no-web-socket', noSockets);
    },
    async close() {
      closed.abort();
    },
  };
}

const noSockets =
  'A client in the process of its agent has no WebSockets, so it runs no commands in tasks (exec). Give the agent a ' +
  'port, a node and a client of its address for that.';

function requestOf({ method, path: target, headers, body }: TransportRequest): Request {
  const mark = target.indexOf('?');
  return {
    method,
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? '' : target.slice(mark + 1),
    headers,
    body: typeof body === 'string' ? new TextEncoder().encode(body) : undefined,
    unread: typeof body === 'object' ? body : undefined,
  };
}

/** A request under way: its caller leaves when it aborts, fails or has read enough. */
class Call {
  /** Functions of the server, for a caller that leaves before the end. */
  readonly #onGone = new Set<() => void>();
  readonly #failed = Promise.withResolvers<never>();
  readonly #signal: AbortSignal | undefined;
  readonly #abort = () => this.#failWith(this.#signal?.reason);
  #isOver = false;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#failed.promise.catch(() => {});
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
  }

  /** As `Request.onGone`. */
  onGone(run: () => void): () => void {
    if (this.#isOver) run();
    else this.#onGone.add(run);
    return () => this.#onGone.delete(run);
  }

  fail(code: string): void {
    this.#failWith(connectionError(address, { code }));
  }

  #failWith(reason: unknown): void {
    this.#failed.reject(reason);
    this.#leaveServer();
  }

  #leaveServer(): void {
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#abort);
    for (const run of this.#onGone) run();
    this.#onGone.clear();
  }

  /** An answer without a stream needs nothing more of the server. */
  answered({ body }: Answer): void {
    if (typeof body !== 'object' || body instanceof Uint8Array) this.#onGone.clear();
  }

  unlessOver<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isOver) return this.#failed.promise;
    return Promise.race([work(), this.#failed.promise]);
  }

  async *bodyOf({ body }: Answer): AsyncGenerator<Uint8Array, void> {
    try {
      if (typeof body === 'string') yield new TextEncoder().encode(body);
      else if (body instanceof Uint8Array) yield body;
      else if (body !== undefined) yield* this.#partsOf(body);
    } finally {
      this.#leaveServer();
    }
  }

  async *#partsOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    const iterator = parts[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { value, done } = await this.unlessOver(() => iterator.next());
        if (done === true) {
          this.#onGone.clear();
          return;
        }
        yield value;
      }
    } finally {
      // It may wait for a part that never comes.
      void iterator.return?.();
    }
  }
}
