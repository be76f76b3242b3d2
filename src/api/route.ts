import type { TSchema } from 'typebox';
import type { Steps } from '../base/steps.ts';
import type { Fault } from '../model/errors.ts';
import type { ExecSession } from '../model/exec-session/exec-session.ts';
import type { Caller } from '../model/permission/caller.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { Snapshot } from '../state/types.ts';
import type { Answer } from './http.ts';
import type { QueryTable, QueryValues } from './query.ts';

/**
 * A route as data: what it takes, what it needs and what it answers. The pipeline gives every
 * route the shared mechanism of docs/contract/http.md (token, parsing, authorization, blocking,
 * consistency, paging, headers), the OpenAPI document is written from it, and a route without a
 * permission does not type-check.
 */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** `/v1/job/:job_id+/allocations`; see `router.ts`. */
  readonly path: string;
  /** Groups routes in the OpenAPI document. */
  readonly noun: string;
  readonly summary: string;
  /** Which header names the answer carries: `X-Registry-…` or `X-Scheduler-…`. */
  readonly family: Family;
  readonly query: QueryTable;
  readonly body: BodyDefinition | undefined;
  /** What a 200 holds; of a list, one item. */
  readonly answer: TSchema | undefined;
  readonly run: Run;
}

export type Family = 'registry' | 'scheduler';

export interface BodyDefinition {
  readonly schema: TSchema;
  /** An absent body is `{}`. */
  readonly optional?: true;
  /** The default is `limits.http.bodyBytesMax`. */
  readonly bytesMax?: number;
  /** Fields the schema does not know: refused, or reported in `input.unknownFields`. */
  readonly unknown: 'refuse' | 'report';
  /** Bounds and choices are checked later, together with the other rules of the noun. */
  readonly checkValues?: false;
  /** Faults of its form are in `input.bodyFaults`, to be told together with those of the content. */
  readonly faults?: 'later';
  /** The body is any bytes and no JSON: they stand in this field, as base64. */
  readonly raw?: string;
  /** Reads the body instead, where its schema depends on what stands in it. */
  readonly decode?: (parsed: unknown) => unknown;
}

/** What a handler gets. Everything in it is parsed and checked for its form. */
export interface Input<Q extends QueryTable = QueryTable, B = unknown> {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: QueryValues<Q>;
  readonly body: B;
  /** Whether the caller sent a body: an absent one is `{}` where it is optional. */
  readonly hasBody: boolean;
  /** Paths of body fields that the schema does not know; only with `unknown: 'report'`. */
  readonly unknownFields: readonly string[];
  /** What is wrong with the form of the body; only with `faults: 'later'`. It is not in `body`. */
  readonly bodyFaults: readonly Fault[];
  /** Where the request means to be (`place.ts`). */
  readonly namespace: string;
  readonly partition: string;
  readonly caller: Caller;
  /** Where the request came from; empty when it came through no connection. */
  readonly address: () => string;
  /** What else the caller may do, where the answer depends on it (secrets that are shown or not). */
  readonly allows: (permission: Permission) => boolean;
  /** In a read, what is read through it decides the answer's index and what wakes it. */
  readonly snapshot: Snapshot;
  /** The same view for what the answer depends on but does not tell. */
  readonly unwatched: Snapshot;
}

/** What a handler gets whose answer goes on for as long as the caller wants. */
export interface StreamInput<Q extends QueryTable = QueryTable> extends Input<Q> {
  /**
   * The same as of now, the caller's rights included.
   * @throws RosterError when the token is gone or may not do this any more
   */
  readonly renew: () => Input<Q>;
}

/** The part of an input that does not depend on the route's own query and body. */
export type Scope = Pick<
  Input,
  'parameters' | 'namespace' | 'partition' | 'caller' | 'allows' | 'snapshot' | 'unwatched'
>;

export type Run =
  | {
      readonly kind: 'read';
      readonly blocking: boolean;
      /** Where rows of the state stand in the handler's value: their encoding can be kept. */
      readonly rowsIn: (input: Input) => RowsIn;
      readonly permission: (input: Input) => Permission;
      readonly handle: (input: Input) => unknown;
      /** Whether the handler gives steps to the value, and not the value. */
      readonly isInSteps: boolean;
    }
  | ListRun
  | {
      readonly kind: 'write';
      /** A token that is not known any more counts as none. */
      readonly takesOldTokens?: true;
      readonly permission: (input: Input) => Permission;
      readonly handle: (input: Input) => Promise<Reply>;
    }
  | {
      readonly kind: 'stream';
      readonly permission: (input: Input) => Permission;
      readonly handle: (input: StreamInput, signal: AbortSignal) => Promise<Answer>;
    }
  | {
      /** A WebSocket that carries a session. */
      readonly kind: 'socket';
      readonly permission: (input: Input) => Permission;
      /** Starts what it carries. What is thrown closes it. */
      readonly open: (input: Input) => Promise<Opened>;
    };

export interface Opened {
  readonly session: ExecSession;
  /** For the audit log, as in {@link Reply}. */
  readonly made: Readonly<Record<string, string>>;
}

/** The value is a row itself, or a list of objects all of whose fields are rows or null. */
export type RowsIn = 'value' | 'fields of items' | 'none';

export interface ListRun {
  readonly kind: 'list';
  readonly blocking: boolean;
  readonly permission: (input: Input) => Permission;
  /** The schema that filter expressions are typed against; it may depend on what is listed. */
  readonly filterSchema: TSchema | ((input: Input) => TSchema);
  /** The rows in order, from the key of a page token on. */
  readonly rows: (input: Input, page: PageStart) => Iterable<unknown>;
  /** The key that a page token carries, of the first row of the next page. */
  readonly keyOf: (row: never, input: Input) => readonly string[];
  /** Rows of the range that the request does not ask for are left out before paging. */
  readonly matches?: (row: never, input: Input) => boolean;
  /** Whether the caller may see the row; asked with `namespace=*`, or of every row. */
  readonly visible?: (row: never) => Permission;
  readonly asksEach?: boolean;
  /** What filters see of a row; the default is the row itself. */
  readonly record?: (row: never, input: Input) => unknown;
  readonly present: (row: never, input: Input) => unknown;
  /** Reads what `present` reads through the snapshot, where that is less work than presenting. */
  readonly reads?: (row: never, input: Input) => void;
  /** Makes something else of what would be shown; `undefined`: this request wants it as it is. */
  readonly gather?: (input: Input) => Gather<never> | undefined;
}

/** What a list comes to where it is not its rows one by one. */
export interface Gather<T> {
  /** The most that a page holds; absent: there are no pages, and all is gathered. */
  readonly countMax?: number;
  readonly of: (shown: readonly T[]) => readonly unknown[];
}

export interface PageStart {
  readonly from: readonly string[] | undefined;
  readonly reverse: boolean;
}

/** What a write answers. `index` goes into the index header. */
export interface Reply {
  readonly index?: number;
  readonly value: unknown;
  /** For the audit log: what was made, by names and ids and no secret. */
  readonly made?: Readonly<Record<string, string>>;
}

interface Common<Q extends QueryTable> {
  readonly method: Route['method'];
  readonly path: string;
  readonly noun: string;
  readonly summary: string;
  readonly family?: Family;
  readonly query?: Q;
  readonly answer?: TSchema;
}

// The builders below are the one place where a route's own types are forgotten: the
// pipeline fills `query` and `body` by the very tables and schemas the types came from.

export function readRoute<Q extends QueryTable>(
  definition: Common<Q> & {
    readonly blocking?: boolean;
    readonly answersRow?: true | ((input: Input<Q>) => boolean);
    /** A list of objects all of whose fields are rows or null. */
    readonly answersRows?: true;
    /** Of a read whose question is too large for a query: what stands in it is in `input.body`. */
    readonly body?: BodyDefinition;
    readonly permission: (input: Input<Q>) => Permission;
    readonly handle: (input: Input<Q>) => unknown;
  },
): Route {
  const { blocking = false, answersRow, answersRows, permission, handle, ...common } = definition;
  const isRow = typeof answersRow === 'function' ? answersRow : () => answersRow === true;
  const rowsIn = (input: Input<Q>): RowsIn => {
    if (answersRows) return 'fields of items';
    return isRow(input) ? 'value' : 'none';
  };
  const own = { rowsIn, permission, handle, isInSteps: false };
  const run = { kind: 'read', blocking, ...own } as unknown as Run;
  return { ...defaults, ...common, run };
}

/** One whose answer may take long to make: it is made in steps, between which others go first. */
export function longReadRoute<Q extends QueryTable>(
  definition: Common<Q> & {
    readonly blocking?: boolean;
    readonly permission: (input: Input<Q>) => Permission;
    readonly steps: (input: Input<Q>) => Steps<unknown>;
  },
): Route {
  const { blocking = false, permission, steps, ...common } = definition;
  const rowsIn = (): RowsIn => 'none';
  const own = { rowsIn, permission, handle: steps, isInSteps: true };
  const run = { kind: 'read', blocking, ...own } as unknown as Run;
  return { ...defaults, ...common, run };
}

export function listRoute<Q extends QueryTable, R>(
  definition: Common<Q> & {
    readonly blocking?: boolean;
    readonly permission: (input: Input<Q>) => Permission;
    readonly body?: BodyDefinition;
    readonly filterSchema: TSchema | ((input: Input<Q>) => TSchema);
    readonly rows: (input: Input<Q>, page: PageStart) => Iterable<R>;
    readonly keyOf: (row: R, input: Input<Q>) => readonly string[];
    readonly matches?: (row: R, input: Input<Q>) => boolean;
    readonly visible?: (row: R) => Permission;
    readonly asksEach?: boolean;
    readonly record?: (row: R, input: Input<Q>) => unknown;
    readonly present: (row: R, input: Input<Q>) => unknown;
    readonly reads?: (row: R, input: Input<Q>) => void;
    readonly gather?: (input: Input<Q>) => Gather<R> | undefined;
  },
): Route {
  const { method, path, noun, summary, family, query, body, answer, ...rest } = definition;
  const run = { kind: 'list', blocking: false, ...rest } as unknown as Run;
  const common = {
    method,
    path,
    noun,
    summary,
    ...(family && { family }),
    ...(query && { query }),
    ...(body && { body }),
  };
  return { ...defaults, ...common, answer, run };
}

export function writeRoute<Q extends QueryTable, B = undefined>(
  definition: Common<Q> & {
    readonly body?: BodyDefinition;
    readonly permission: (input: Input<Q, B>) => Permission;
    readonly handle: (input: Input<Q, B>) => Promise<Reply>;
    readonly takesOldTokens?: true;
  },
): Route {
  const { permission, handle, takesOldTokens, ...common } = definition;
  const run = { kind: 'write', permission, handle, ...(takesOldTokens && { takesOldTokens }) };
  return { ...defaults, ...common, run: run as unknown as Run };
}

export function streamRoute<Q extends QueryTable>(
  definition: Common<Q> & {
    readonly permission: (input: Input<Q>) => Permission;
    readonly handle: (input: StreamInput<Q>, signal: AbortSignal) => Promise<Answer>;
  },
): Route {
  const { permission, handle, ...common } = definition;
  return { ...defaults, ...common, run: { kind: 'stream', permission, handle } as unknown as Run };
}

export function socketRoute<Q extends QueryTable>(
  definition: Omit<Common<Q>, 'method'> & {
    readonly permission: (input: Input<Q>) => Permission;
    readonly open: (input: Input<Q>) => Promise<Opened>;
  },
): Route {
  const { permission, open, ...common } = definition;
  const run = { kind: 'socket', permission, open } as unknown as Run;
  return { ...defaults, ...common, method: 'GET', run };
}

const defaults = {
  family: 'scheduler' as Family,
  query: {},
  body: undefined,
  answer: undefined,
};
