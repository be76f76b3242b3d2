import type { Family } from '../contract/endpoint.ts';
import { problemOf, RosterError, refusal, retryAfterSeconds } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { StateError, WriteQueueFull } from '../state/errors.ts';
import type { Footprint } from '../state/types.ts';
import { prettyJson, type RowEncoder } from './encode.ts';
import { type Answer, jsonType, type Request } from './http.ts';
import type { Reply, RowsIn } from './route.ts';

/** What one look at the state found. */
export interface Attempt {
  readonly family: Family;
  readonly footprint: Footprint;
  readonly pretty: boolean;
  readonly value?: unknown;
  /** The text of a long list instead. */
  readonly body?: AsyncIterable<Uint8Array>;
  /** Where rows stand in the value, and where their encoding is kept. */
  readonly rowsIn?: RowsIn;
  readonly rows?: RowEncoder;
  readonly missing?: RosterError;
  readonly nextToken?: string;
  readonly filteredByAcls?: boolean;
}

/** Written out, since every read makes one of them. */
const headersOf: Readonly<Record<Family, (index: string) => Record<string, string>>> = {
  registry: (index) => ({
    'content-type': 'application/json',
    'x-registry-index': index,
    'x-registry-knownleader': 'true',
    'x-registry-lastcontact': '0',
  }),
  scheduler: (index) => ({
    'content-type': 'application/json',
    'x-scheduler-index': index,
    'x-scheduler-knownleader': 'true',
    'x-scheduler-lastcontact': '0',
  }),
};

/** What a look found, as an answer with the headers of its family. */
export function readAnswer(attempt: Attempt): Answer {
  const { family, footprint, nextToken, filteredByAcls, value, missing, pretty } = attempt;
  const headers = headersOf[family](String(footprint.index));
  if (nextToken !== undefined) headers[`x-${family}-nexttoken`] = nextToken;
  if (filteredByAcls && family === 'registry') {
    headers['x-registry-results-filtered-by-acls'] = 'true';
  }
  if (missing !== undefined) return problemAnswer(missing, headers);
  if (attempt.body !== undefined) return { status: 200, headers, body: attempt.body };
  if (pretty) return { status: 200, headers, body: prettyJson(value) };
  return { status: 200, headers, body: bodyOf(attempt) };
}

function bodyOf({ value, rowsIn, rows }: Attempt): string | Uint8Array {
  if (rows === undefined || rowsIn === 'none') return JSON.stringify(value);
  if (rowsIn === 'value') return rows.encode(value as object);
  return rows.encodeItems(value as readonly Readonly<Record<string, object | null>>[]);
}

/** The caller is gone: nobody reads this. */
export const gone: Answer = { status: 499, headers: {}, body: undefined };

/** The answer where no route fits. OPTIONS tells which methods there are. */
export function unroutedAnswer(
  match: { kind: 'method'; allow: readonly string[] } | { kind: 'unknown' },
  request: Request,
): Answer {
  if (match.kind === 'unknown') {
    throw refusal('route-not-found', { path: request.path.slice(0, limits.names.lengthMax) });
  }
  const methods = match.allow.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allow = ['OPTIONS', ...methods].join(', ');
  if (request.method === 'OPTIONS') return { status: 200, headers: { allow }, body: undefined };
  const { method } = request;
  const error = refusal('method-not-allowed', { method, allowed: methods.join(', ') });
  return problemAnswer(error, { allow });
}

/** Why nothing can be written, as an answer. */
export const closedRefusal = ({ message }: Error): RosterError =>
  new RosterError('writes-closed', `${message}; reads go on`);

/** The catalogue's error for what a handler threw; `undefined` when it is a bug. */
export function knownRefusal(thrown: unknown): RosterError | undefined {
  if (thrown instanceof RosterError) return thrown;
  if (thrown instanceof WriteQueueFull) return new RosterError('queue-full', thrown.message);
  if (thrown instanceof StateError) return closedRefusal(thrown);
  return undefined;
}

export function problemAnswer(error: RosterError, headers: Record<string, string> = {}): Answer {
  const retryAfter = retryAfterSeconds(error.code);
  return {
    status: error.status,
    headers: {
      ...headers,
      'content-type': 'application/problem+json',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body: JSON.stringify(problemOf(error)),
  };
}

export function replyAnswer(family: Family, { index, value }: Reply, pretty: boolean): Answer {
  const headers =
    index === undefined ? jsonType : { ...jsonType, [`x-${family}-index`]: String(index) };
  if (value === undefined) return { status: 200, headers: {}, body: undefined };
  return { status: 200, headers, body: pretty ? prettyJson(value) : JSON.stringify(value) };
}
