import { heardCode } from '../model/node/heard.ts';
import { ConnectionError, isLost, isNeverSent } from './errors.ts';
import { limits } from './limits.ts';
import { NoServer, type ServerChoice, type Target } from './server-choice.ts';
import type { Repeats, Transport, TransportAnswer, TransportRequest } from './transport.ts';

export interface FailoverOptions {
  readonly choice: ServerChoice;
  readonly transportOf: (target: Target) => Transport;
  /** Whether running a request again changes nothing more; by default this is true of reads. */
  readonly isRepeatable?: (request: TransportRequest) => boolean;
  readonly repeats?: Repeats;
}

/**
 * Sends each request to the current server of `choice`, and to the others in turn when that one does
 * not take it.
 *
 * Invariants
 *  F1. A request that has an effect goes on to another server only if it was certainly not run. With an
 *      `Idempotency-Key` it also goes on when its connection was lost.
 *  F2. A repeatable request goes on from every server that cannot be reached or answers 5xx.
 *  F3. When no server takes a request, its error names each of them with the reason. If it may have been
 *      run somewhere, the error says so. A node keeps the answer of a server that has heard of it.
 */
export function failoverTransport(options: FailoverOptions): Transport {
  const { choice, isRepeatable = isRead, repeats } = options;
  const ways = new Ways(options);
  return {
    ...(repeats && { repeats }),
    async send(given) {
      const request = { ...given, body: keptUntilRead(given.body) };
      const ask = async (target: Target, left: AbortSignal): Promise<TransportAnswer> => {
        const way = ways.to(target);
        const answer = await (isRepeatable(request)
          ? sendUntilLeft(way, request, left)
          : way.send(request));
        if (answer.status < 500) return answer;
        const refused = new RefusedByServer(answer, await textOf(answer));
        if (movesOn(refused)) throw refused;
        return refused.answer();
      };
      const movesOn = (error: unknown): boolean => {
        if (isRepeatable(request)) return true;
        if (error instanceof RefusedByServer) return notRun.has(error.code);
        return isNeverSent(error) || (isKeyed(request) && isLost(error));
      };
      try {
        return await choice.call(ask, request.signal, movesOn);
      } catch (error) {
        return outcomeOf(error, choice);
      }
    },
    async openSocket(request) {
      const ask = async (target: Target) => ways.to(target).openSocket!(request);
      try {
        return await choice.call(ask, request.signal, isNeverSent);
      } catch (error) {
        throw error instanceof NoServer ? connectionErrorOf(error, choice) : error;
      }
    },
    close: () => ways.close(),
  };
}

/** The transports to the servers of a choice. */
class Ways {
  readonly #options: FailoverOptions;
  readonly #open = new Map<Target, Transport>();
  #known: readonly Target[] = [];

  constructor(options: FailoverOptions) {
    this.#options = options;
  }

  to(target: Target): Transport {
    this.#closeGone();
    const way = this.#open.get(target) ?? this.#options.transportOf(target);
    this.#open.set(target, way);
    return way;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((way) => way.close()));
  }

  /** Closes the ways to machines that their names no longer have. */
  #closeGone(): void {
    const { targets } = this.#options.choice;
    if (targets === this.#known) return;
    this.#known = targets;
    for (const [target, way] of this.#open) {
      if (targets.includes(target)) continue;
      this.#open.delete(target);
      void way.close();
    }
  }
}

const isRead = ({ method }: TransportRequest): boolean => method === 'GET';

const isKeyed = ({ headers }: TransportRequest): boolean =>
  headers['idempotency-key'] !== undefined;

/** Refusals of a server that has not run the request, and that another server need not give. */
const notRun: ReadonlySet<string> = new Set(['no-leader', 'not-leader', 'not-ready']);

/** An answer of 500 or more. */
class RefusedByServer extends Error {
  readonly #head: TransportAnswer;
  readonly #text: string;
  readonly code: string = '';

  constructor(head: TransportAnswer, text: string) {
    super(`It answered ${head.status}.`);
    this.#head = head;
    this.#text = text;
    const { code, detail } = problemIn(text);
    if (code === undefined) return;
    this.code = code;
    this.message = detail ?? code;
  }

  /** The answer as it came, or with a detail of its own. */
  answer(detail?: string): TransportAnswer {
    const isReworded = detail !== undefined && this.code !== '';
    const text = isReworded ? JSON.stringify({ ...problemIn(this.#text), detail }) : this.#text;
    return { ...this.#head, body: piecesOf(text) };
  }
}

function problemIn(text: string): { readonly code?: string; readonly detail?: string } {
  try {
    const { code, detail } = (JSON.parse(text) ?? {}) as { code?: unknown; detail?: unknown };
    return typeof code === 'string' && typeof detail === 'string' ? JSON.parse(text) : {};
  } catch {
    return {};
  }
}

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function textOf({ body }: TransportAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > limits.problemBytesMax) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** F3. */
function outcomeOf(error: unknown, choice: ServerChoice): TransportAnswer {
  if (error instanceof RefusedByServer) return error.answer();
  if (!(error instanceof NoServer)) throw error;
  const { failures } = error;
  const heard = failures.find((failure) => codeOf(failure.error) === heardCode);
  if (heard !== undefined) return (heard.error as RefusedByServer).answer(error.message);
  const last = failures.findLast((failure) => failure.error instanceof RefusedByServer);
  if (last === undefined || failures.some((failure) => isLost(failure.error))) {
    throw connectionErrorOf(error, choice);
  }
  return (last.error as RefusedByServer).answer(error.message);
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof RefusedByServer ? error.code : undefined;

function connectionErrorOf(error: NoServer, { addresses }: ServerChoice): ConnectionError {
  const errors = error.failures.map((failure) => failure.error);
  const telling = errors.find(isLost) ?? errors.at(-1);
  const code = telling instanceof ConnectionError ? telling.code : '';
  return new ConnectionError(addresses.join(', '), code, error.message, error);
}

/** Ends the request when `left` aborts before the head of the answer has come. */
async function sendUntilLeft(
  transport: Transport,
  request: TransportRequest,
  left: AbortSignal,
): Promise<TransportAnswer> {
  const attempt = new AbortController();
  const leave = (): void => attempt.abort(left.reason);
  left.addEventListener('abort', leave, { once: true });
  if (left.aborted) leave();
  const { signal } = request;
  const both = signal === undefined ? attempt.signal : AbortSignal.any([signal, attempt.signal]);
  try {
    return await transport.send({ ...request, signal: both });
  } finally {
    left.removeEventListener('abort', leave);
  }
}

/** A failed connection ends the body before it is read. Then another server can have it. */
function keptUntilRead(body: TransportRequest['body']): TransportRequest['body'] {
  if (typeof body !== 'object') return body;
  const pieces = body[Symbol.asyncIterator]();
  let hasBegun = false;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        hasBegun = true;
        return pieces.next();
      },
      return: async () => {
        if (hasBegun) await pieces.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}
