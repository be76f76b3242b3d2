import { RosterError, refusal, retryAfterSeconds } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Contact } from '../server/servers.ts';
import {
  FormUnfinished,
  NotLeading,
  OutcomeUnknown,
  StateError,
  WriteQueueFull,
} from '../state/errors.ts';
import type { Footprint } from '../state/types.ts';
import type { Dialect } from './dialect/dialect.ts';
import { defaultDialect } from './dialect/dialects.ts';
import { prettyJson, type RowEncoder } from './encode.ts';
import { type Answer, jsonType, type Request } from './http.ts';
import type { Moment } from './moment.ts';
import type { Reply, RowsIn } from './route.ts';

/** The outcome of one evaluation of a read on the current state. */
export interface Attempt {
  readonly dialect: Dialect;
  readonly footprint: Footprint;
  readonly moment?: Moment;
  readonly pretty: boolean;
  readonly value?: unknown;
  /** The text of a list, in place of `value`. */
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** The position of rows in the value, and the cache of their encoding. */
  readonly rowsIn?: RowsIn;
  readonly rows?: RowEncoder;
  readonly missing?: RosterError;
  readonly nextToken?: string;
  readonly total?: number;
  readonly filteredByAcls?: boolean;
  /** Knowledge of the leader. */
  readonly contact: Contact;
}

export function readAnswer(attempt: Attempt): Answer {
  const { dialect, footprint, nextToken, filteredByAcls, value, missing, pretty } = attempt;
  const headers = dialect.readHeaders(String(footprint.index));
  tellContact(headers, attempt);
  const { filteredByAcls: filtered, total: totalName } = dialect.headers;
  if (attempt.total !== undefined && totalName !== undefined) {
    headers[totalName] = String(attempt.total);
  }
  if (nextToken !== undefined) headers[dialect.headers.nextToken] = nextToken;
  if (filteredByAcls && filtered !== undefined) headers[filtered] = 'true';
  if (missing !== undefined) return problemAnswer(missing, dialect, headers);
  if (attempt.body !== undefined) return { status: 200, headers, body: attempt.body };
  if (pretty) return { status: 200, headers, body: prettyJson(value) };
  return { status: 200, headers, body: bodyOf(attempt) };
}

/** The headers of a dialect say what the leader itself says. */
function tellContact(
  headers: Record<string, string>,
  { dialect, contact: { KnownLeader, LastContact } }: Attempt,
): void {
  if (KnownLeader && LastContact === 0) return;
  headers[dialect.headers.knownLeader] = String(KnownLeader);
  headers[dialect.headers.lastContact] = String(LastContact);
}

function bodyOf({ value, rowsIn, rows }: Attempt): string | Uint8Array {
  if (rows === undefined || rowsIn === 'none') return JSON.stringify(value);
  if (rowsIn === 'value') return rows.encode(value as object);
  return rows.encodeItems(value as readonly Readonly<Record<string, object | null>>[]);
}

/** The caller has disconnected, so nobody reads this answer. */
export const gone: Answer = { status: 499, headers: {}, body: undefined };

/** The answer to a path or method without a route. OPTIONS lists the methods. */
export function unroutedAnswer(
  match: { kind: 'method'; allow: readonly string[] } | { kind: 'unknown' },
  request: Request,
  dialect: Dialect,
): Answer {
  if (match.kind === 'unknown') {
    throw refusal('route-not-found', { path: request.path.slice(0, limits.names.lengthMax) });
  }
  const methods = match.allow.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allow = ['OPTIONS', ...methods].join(', ');
  if (request.method === 'OPTIONS') return { status: 200, headers: { allow }, body: undefined };
  const { method } = request;
  const error = refusal('method-not-allowed', { method, allowed: methods.join(', ') });
  return problemAnswer(error, dialect, { allow });
}

/** The refusal of writes while the state is closed for them. */
export const closedRefusal = ({ message }: Error): RosterError =>
  new RosterError('writes-closed', `${message}; reads go on`);

/** The catalogue's error for an exception of a handler; `undefined` for a bug. */
export function knownRefusal(thrown: unknown): RosterError | undefined {
  if (thrown instanceof RosterError) return thrown;
  if (thrown instanceof WriteQueueFull) return new RosterError('queue-full', thrown.message);
  if (thrown instanceof NotLeading) return refusal('not-leader');
  if (thrown instanceof FormUnfinished)
    return refusal('upgrade-unfinished', { table: thrown.table });
  if (thrown instanceof OutcomeUnknown) return refusal('outcome-unknown');
  if (thrown instanceof StateError) return closedRefusal(thrown);
  return undefined;
}

/** Every error becomes an answer here. */
export function problemAnswer(
  error: RosterError,
  dialect: Dialect = defaultDialect,
  headers: Record<string, string> = {},
): Answer {
  const retryAfter = retryAfterSeconds(error.code);
  const { contentType, body } = dialect.problemOf(error);
  return {
    status: dialect.statusOf(error),
    headers: {
      ...headers,
      'content-type': contentType,
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body,
  };
}

export function replyAnswer(
  dialect: Dialect,
  { index, value }: Reply,
  pretty: boolean,
): Answer & { readonly body: string | undefined } {
  const told = index === undefined ? {} : { [dialect.headers.index]: String(index) };
  if (value === undefined) return { status: 200, headers: told, body: undefined };
  const headers = { ...jsonType, ...told };
  return { status: 200, headers, body: pretty ? prettyJson(value) : JSON.stringify(value) };
}
