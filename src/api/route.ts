import type { TSchema } from 'typebox';
import type { BodyDefinition, Endpoint, Family } from '../contract/endpoint.ts';
import type { QueryTable, QueryValues } from '../contract/query.ts';
import type { Fault } from '../model/errors.ts';
import type { ExecSession } from '../model/exec-session/exec-session.ts';
import type { Caller } from '../model/permission/caller.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { Snapshot } from '../state/types.ts';
import type { Dialect } from './dialect/dialect.ts';
import type { Answer } from './http.ts';

/**
 * An endpoint with one of its methods and what the server does for it; made by `serve.ts`. The
 * pipeline gives every route the shared mechanism (token, parsing, authorization, blocking,
 * consistency, paging, headers).
 */
export interface Route {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** What it promises. */
  readonly endpoint: Endpoint;
  /** `/v1/job/:job_id+/allocations`; see `router.ts`. */
  readonly path: string;
  /** Groups routes in the OpenAPI document. */
  readonly noun: string;
  readonly summary: string;
  readonly family: Family;
  /** That of its family, or another one in which the endpoint is served as well. */
  readonly dialect: Dialect;
  readonly query: QueryTable;
  readonly body: BodyDefinition | undefined;
  /** What a 200 holds; of a list, one item. */
  readonly answer: TSchema | undefined;
  readonly run: Run;
}

/** What a handler gets. Everything in it is parsed and checked for its form. */
export interface Input<
  Q extends QueryTable = QueryTable,
  B = unknown,
  P = Readonly<Record<string, string>>,
> {
  readonly parameters: P;
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
export type StreamInput<I = Input> = I & {
  /**
   * The same as of now, the caller's rights included.
   * @throws RosterError when the token is gone or may not do this any more
   */
  readonly renew: () => I;
  /** What the headers of the answer are named in. */
  readonly dialect: Dialect;
};

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
export interface Gather<T, G = unknown> {
  /** The most that a page holds; absent: there are no pages, and all is gathered. */
  readonly countMax?: number;
  readonly of: (shown: readonly T[]) => readonly G[];
}

export interface PageStart {
  readonly from: readonly string[] | undefined;
  readonly reverse: boolean;
}

/** What a write answers. `index` goes into the index header. */
export interface Reply<V = unknown> {
  readonly index?: number;
  readonly value: V;
  /** For the audit log: what was made, by names and ids and no secret. */
  readonly made?: Readonly<Record<string, string>>;
}
