import { joined } from '../base/base64.ts';
import type { Fault, Problem } from '../model/errors.ts';
import { ApiError, ConnectionError } from './errors.ts';
import { limits } from './limits.ts';
import { onceMoreIfLost, untilKnown } from './repeat.ts';
import type {
  Method,
  OpenSocket,
  Repeats,
  SocketRequest,
  Transport,
  TransportAnswer,
  TransportRequest,
} from './transport.ts';

/** Options of every request. */
export interface CallOptions {
  /** Overrides the client's namespace. `*` in a list means all namespaces. */
  readonly namespace?: string | undefined;
  /** Overrides the client's partition. */
  readonly partition?: string | undefined;
  /** Aborting ends the request, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The time until an answer begins; by default a minute. 0: no limit. */
  readonly timeoutMs?: number | undefined;
}

export interface StreamOptions extends CallOptions {
  /** Called with the index at which the answer begins, if it has one. */
  readonly onIndex?: ((index: number) => void) | undefined;
}

/** Source: docs/contract/http.md#blocking-queries, #consistency. */
export interface ReadOptions extends CallOptions {
  /** Wait until the index of the answer is greater than this; 0: do not wait. */
  readonly index?: number | undefined;
  /** The longest wait; by default five minutes. */
  readonly waitMs?: number | undefined;
  readonly stale?: boolean | undefined;
  readonly consistent?: boolean | undefined;
}

/** Source: docs/contract/http.md#lists. */
export interface ListOptions extends ReadOptions {
  readonly prefix?: string | undefined;
  readonly filter?: string | undefined;
  readonly perPage?: number | undefined;
  /** `nextToken` of the page before. */
  readonly nextToken?: string | undefined;
  readonly reverse?: boolean | undefined;
  /** A field, as the endpoint lists them; with `perPage`. */
  readonly sort?: string | undefined;
  /** Count the records of all pages. */
  readonly counts?: boolean | undefined;
}

export interface Answer<T> {
  readonly value: T;
  /** The index of the value. Give it back to wait until the value changes. */
  readonly index: number;
  /** The start of the next page of a list; absent on the last page. */
  readonly nextToken: string | undefined;
  /** The number of records on all pages of a list that is sorted or counted, unless there are too many. */
  readonly total: number | undefined;
  readonly knownLeader: boolean;
  readonly lastContactMs: number;
}

/** The answer to a write. Only a server with a leader gives one. */
export interface Written<T> {
  readonly value: T;
  /** The index of the write; 0 where the answer does not tell it. */
  readonly index: number;
}

type QueryValue = string | number | boolean | readonly string[] | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

export interface Requester {
  read<T>(path: string, options?: ReadOptions, query?: Query): Promise<Answer<T>>;
  write<T>(
    target: { readonly method: Method; readonly path: string },
    options?: CallOptions,
    body?: unknown,
    query?: Query,
  ): Promise<Written<T>>;
  /** Sends bytes as they come. */
  upload<T>(
    target: { readonly method: Method; readonly path: string },
    bytes: AsyncIterable<Uint8Array>,
    options?: CallOptions,
    query?: Query,
  ): Promise<Written<T>>;
  /** The body in chunks, without a limit of time or size. Leaving the loop ends the request. */
  stream(path: string, options?: StreamOptions, query?: Query): AsyncIterable<Uint8Array>;
  /** Opens a WebSocket. Rejects with `ConnectionError`, or with the signal's reason. */
  openSocket(path: string, options?: CallOptions, query?: Query): Promise<OpenSocket>;
  readonly repeats: Repeats | undefined;
  /** The headers for a request made elsewhere (a WebSocket). */
  readonly headers: () => Readonly<Record<string, string>>;
}

export interface RequesterOptions {
  readonly transport: Transport;
  /** For messages. */
  readonly address: string;
  readonly token: () => string | undefined;
  readonly namespace: string | undefined;
  readonly partition?: string | undefined;
}

/** Builds a path. Values are percent-encoded, including slashes. */
export function path(literals: TemplateStringsArray, ...names: readonly string[]): string {
  return literals.reduce(
    (text, literal, at) => text + encodeURIComponent(names[at - 1]!) + literal,
  );
}

export function createRequester(options: RequesterOptions): Requester {
  const { transport, address, token } = options;
  const headers = (): Record<string, string> => {
    const secret = token();
    return secret === undefined || secret === '' ? {} : { 'x-registry-token': secret };
  };
  const send = async (
    request: Pick<TransportRequest, 'method' | 'path' | 'headTimeoutMs' | 'bodyTimeoutMs'>,
    call: CallOptions,
    query: Query,
    { body, bytes, key }: Sent = {},
  ): Promise<TransportAnswer> => {
    const type = bytes === undefined ? 'application/json' : 'application/octet-stream';
    const isEmpty = body === undefined && bytes === undefined;
    const answer = await transport.send({
      ...request,
      path: targetOf(options, request.path, call, query),
      headers: {
        ...headers(),
        ...(!isEmpty && { 'content-type': type }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: bytes ?? (body === undefined ? undefined : JSON.stringify(body)),
      signal: call.signal,
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw await refusalOf(answer, address, `${request.method} ${request.path}`);
  };
  const { headTimeoutMs, bodyTimeoutMs } = limits;
  return {
    headers,
    repeats: transport.repeats,
    async read(path, call = {}, query = {}) {
      const request = {
        method: 'GET',
        path,
        headTimeoutMs: call.timeoutMs ?? headTimeoutMs + longestWaitMs(call),
        bodyTimeoutMs,
      } as const;
      return onceMoreIfLost(transport.repeats, call.signal, async () => {
        const answer = await send(request, call, { ...readQuery(call), ...query });
        return decode(answer, address);
      });
    },
    async write({ method, path }, call = {}, body, query = {}) {
      const waits = { headTimeoutMs: call.timeoutMs ?? headTimeoutMs, bodyTimeoutMs };
      const request = { method, path, ...waits };
      const attempt = async (key?: string): Promise<Written<never>> =>
        written(await send(request, call, query, { body, key }), address);
      const { repeats } = transport;
      return repeats === undefined ? attempt() : untilKnown(repeats, call.signal, attempt);
    },
    async upload({ method, path }, bytes, call = {}, query = {}) {
      const waits = { headTimeoutMs: call.timeoutMs ?? headTimeoutMs, bodyTimeoutMs };
      return written(await send({ method, path, ...waits }, call, query, { bytes }), address);
    },
    openSocket(path, call = {}, query = {}) {
      const target = targetOf(options, path, call, query);
      return openSocket(options, { path: target, headers: headers(), signal: call.signal });
    },
    async *stream(path, call = {}, query = {}) {
      const waits = { headTimeoutMs: call.timeoutMs ?? headTimeoutMs, bodyTimeoutMs: 0 };
      const answer = await send({ method: 'GET', path, ...waits }, call, query);
      call.onIndex?.(indexOf(answer));
      yield* answer.body;
    },
  };
}

async function openSocket(
  { transport, address }: RequesterOptions,
  request: SocketRequest,
): Promise<OpenSocket> {
  if (transport.openSocket !== undefined) return transport.openSocket(request);
  const sentence = `${address} is reached in a way that has no WebSockets.`;
  throw new ConnectionError(address, 'no-web-socket', sentence);
}

/** The path with the query of the call. */
function targetOf(
  { namespace, partition }: RequesterOptions,
  path: string,
  call: CallOptions,
  query: Query,
): string {
  const text = queryText({
    namespace: call.namespace ?? namespace,
    ...query,
    partition: query.partition ?? call.partition ?? partition,
  });
  return `${path}${text}`;
}

interface Sent {
  readonly body?: unknown;
  /** Sent as they come, in place of `body`. */
  readonly bytes?: AsyncIterable<Uint8Array>;
  /** The `Idempotency-Key`. */
  readonly key?: string | undefined;
}

/** The longest time that the server holds a blocking query, including its jitter. */
function longestWaitMs({ index = 0, waitMs }: ReadOptions): number {
  if (index === 0) return 0;
  const heldMs = waitMs ?? limits.waitDefaultMs;
  return heldMs + heldMs / limits.waitJitterDivisor;
}

const readQuery = ({ index, waitMs, stale, consistent }: ReadOptions): Query => ({
  index: index || undefined,
  wait: index && waitMs !== undefined ? `${Math.round(waitMs)}ms` : undefined,
  stale: stale || undefined,
  consistent: consistent || undefined,
});

export const listQuery = (options: ListOptions) => ({
  prefix: options.prefix || undefined,
  filter: options.filter || undefined,
  per_page: options.perPage || undefined,
  next_token: options.nextToken || undefined,
  reverse: options.reverse || undefined,
  sort: options.sort || undefined,
  total: options.counts || undefined,
});

function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

async function decode<T>(answer: TransportAnswer, address: string): Promise<Answer<T>> {
  const either = (name: string) => headerOf(answer, name);
  return {
    ...(await written<T>(answer, address)),
    nextToken: either('nexttoken'),
    total: countIn(either('total')),
    knownLeader: either('knownleader') === 'true',
    lastContactMs: Number(either('lastcontact') ?? 0),
  };
}

const countIn = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

async function written<T>(answer: TransportAnswer, address: string): Promise<Written<T>> {
  const text = await textOf(answer, limits.answerBytesMax, address);
  let value: unknown;
  try {
    value = text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    const sentence = `${address} answered something other than JSON. Is it an agent's address?`;
    throw new ConnectionError(address, 'malformed-answer', sentence, cause);
  }
  return { value: value as T, index: indexOf(answer) };
}

const headerOf = ({ headers }: TransportAnswer, name: string): string | undefined =>
  headers[`x-scheduler-${name}`] ?? headers[`x-registry-${name}`];

const indexOf = (answer: TransportAnswer): number => Number(headerOf(answer, 'index') ?? 0);

async function textOf(answer: TransportAnswer, most: number, address: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > most) {
      const sentence = `The answer of ${address} is larger than ${most} bytes. Ask for less: a page (per_page), a prefix or a filter.`;
      throw new ConnectionError(address, 'answer-too-large', sentence);
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(joined(chunks));
}

async function refusalOf(
  answer: TransportAnswer,
  address: string,
  request: string,
): Promise<ApiError> {
  const { status, headers } = answer;
  const text = await textOf(answer, limits.problemBytesMax, address);
  const problem = problemIn(text);
  const retryAfter = Number(headers['retry-after']);
  return new ApiError({
    status,
    code: problem?.code ?? 'unexplained',
    detail: problem?.detail ?? unexplained(status, text, request),
    errors: Array.isArray(problem?.errors) ? problem.errors.filter(isFault) : [],
    index: indexOf(answer),
    retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
    conflict: isRecord(problem?.conflict) ? problem.conflict : undefined,
  });
}

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null;

function problemIn(text: string): Problem | undefined {
  try {
    const parsed = JSON.parse(text) as Partial<Problem> | null;
    const isProblem = typeof parsed?.code === 'string' && typeof parsed.detail === 'string';
    return isProblem ? (parsed as Problem) : undefined;
  } catch {
    return undefined;
  }
}

const isFault = (fault: Partial<Fault> | null): fault is Fault =>
  typeof fault?.pointer === 'string' && typeof fault.message === 'string';

function unexplained(status: number, text: string, request: string): string {
  const quoted = text.trim().slice(0, limits.quotedCharactersMax);
  const said = quoted === '' ? 'without a word' : `with: ${quoted}`;
  return `${request} was answered ${status} ${said}. Is this the address of an agent?`;
}
