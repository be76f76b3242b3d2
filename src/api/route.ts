import type { TSchema } from 'typebox';
import type { Endpoint, Method } from '../contract/endpoint.ts';
import type { QueryTable, QueryValues } from '../contract/query.ts';
import type { RowCheck } from '../contract/visible.ts';
import type { Fault } from '../model/errors.ts';
import type { ExecSession } from '../model/exec-session/exec-session.ts';
import type { Caller } from '../model/permission/caller.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { Contact } from '../server/servers.ts';
import type { Change, Snapshot } from '../state/types.ts';
import type { Dialect } from './dialect/dialect.ts';
import type { Answer } from './http.ts';
import type { Moment } from './moment.ts';

/**
 * An endpoint with one of its methods and the server's handler; made by `serve.ts`. The pipeline
 * adds the shared steps (token, parsing, authorization, blocking, consistency, paging, headers).
 */
export interface Route {
  readonly method: Method;
  readonly endpoint: Endpoint;
  /** `/v1/job/:job_id+/allocations`; see `router.ts`. A foreign dialect has its own. */
  readonly path: string;
  readonly dialect: Dialect;
  readonly permission: (input: Input) => Permission;
  readonly run: Run;
}

/** The input of a handler. It is parsed, and its form is checked. */
export interface Input<
  Q extends QueryTable = QueryTable,
  B = unknown,
  P = Readonly<Record<string, string>>,
> {
  readonly parameters: P;
  readonly query: QueryValues<Q>;
  readonly body: B;
  /** Whether there was a body. An absent optional body is `{}`. */
  readonly hasBody: boolean;
  /** Paths of unknown body fields; only with `unknown: 'report'`. */
  readonly unknownFields: readonly string[];
  /**
   * Faults in the form of the body, whose fields are left out of `body`; only with `faults:
   * 'later'`.
   */
  readonly bodyFaults: readonly Fault[];
  /** The namespace and partition of the request (`dialect/`). */
  readonly namespace: string;
  readonly partition: string;
  readonly caller: Caller;
  /** The caller's address; empty without a connection. */
  readonly address: () => string;
  /** A header of the request; empty: there is none. The name is in lower case. */
  readonly header: (name: string) => string;
  /** Knowledge of the leader. */
  readonly contact: () => Contact;
  /** Other permissions of the caller, for answers that depend on them (hidden secrets). */
  readonly allows: (permission: Permission) => boolean;
  /** A read's footprint: rows read through it give the answer's index and wake it. */
  readonly snapshot: Snapshot;
  /** The same state without a footprint. */
  readonly unwatched: Snapshot;
  /** Filled by reads whose answer depends on the time. */
  readonly moment: Moment;
}

/** The input of a stream's handler. */
export type StreamInput<I = Input> = I & {
  /**
   * The input for the newest state, with the caller's current permissions.
   * @throws RosterError when the token is gone or lacks the permission
   */
  readonly renew: () => I;
  readonly dialect: Dialect;
  /** The body, if the endpoint has one that is streamed. */
  readonly pieces: AsyncIterable<Uint8Array>;
};

/** The input without query and body. */
export type BaseInput = Pick<
  Input,
  'parameters' | 'namespace' | 'partition' | 'caller' | 'allows' | 'snapshot' | 'unwatched'
>;

/** The server's part of a route, by the kind of its endpoint. */
export type Run =
  | {
      readonly kind: 'read';
      /** Where the answer holds rows of the state, whose encoding can be kept. */
      readonly rowsIn: (input: Input) => RowsIn;
      /** The answer, or with `isInSteps` a generator that ends with it. */
      readonly handle: (input: Input) => unknown;
      readonly isInSteps: boolean;
    }
  | ListRun
  | {
      readonly kind: 'write';
      readonly handle: (input: Input) => Promise<Reply>;
      readonly withoutLeader?: WithoutLeader;
    }
  | {
      readonly kind: 'stream';
      readonly handle: (input: StreamInput, signal: AbortSignal) => Promise<Answer>;
    }
  | {
      readonly kind: 'socket';
      /** Starts the session. An error closes the WebSocket. */
      readonly open: (input: Input) => Promise<Opened>;
    };

/**
 * Answers a write where no leader is known, instead of a wait for one. It first finds out what it needs, and
 * then refuses by the newest view.
 */
export type WithoutLeader<I = Input> = () => Promise<(input: I) => never>;

export interface Opened {
  readonly session: ExecSession;
  /** For the audit log, as in {@link Reply}. */
  readonly made: Readonly<Record<string, string>>;
}

/**
 * `value`: the answer is a row; `fields of items`: it is a list of objects whose fields are rows or
 * null.
 */
export type RowsIn = 'value' | 'fields of items' | 'none';

export interface Following<R = unknown> {
  readonly table: string;
  /** `down`: the greatest key comes first. */
  readonly order: 'up' | 'down';
  /** Whether the list of the request has the row, before `matches`, rights and filter. */
  readonly isIn: (row: R) => boolean;
  /** Where it is given, the texts of the records are kept until a row changes that they show. */
  readonly texts?: FollowedTexts<R>;
}

/** Which records of a followed list show which rows. */
export interface FollowedTexts<R = unknown> {
  /** Names the record of a row. */
  readonly nameOf: (row: R) => string;
  /** The name of the record that shows this row beside its own, of any table; `undefined`: none does. */
  readonly shownIn: (change: Change) => string | undefined;
  /** Reads the ranges of all rows that records show, so that their changes are changes of the answer. */
  readonly readRanges: (snapshot: Snapshot) => void;
}

/** A list of rows `R`, answered to requests with input `I`. */
export interface ListRows<R = unknown, I = Input> {
  /** The rows in order, beginning at the key of the page token. */
  readonly rows: (input: I, page: PageStart) => Iterable<R>;
  /** The key of a row in a page token. */
  readonly keyOf: (row: R, input: I) => readonly string[];
  /** Whether the request asks for the row. The others are left out before paging. */
  readonly matches?: (row: R, input: I) => boolean;
  /** The schema of filter expressions, where it depends on the request. */
  readonly filterSchema?: (input: I) => TSchema;
  /** The record that a filter sees; by default the row. */
  readonly record?: (row: R, input: I) => unknown;
  /**
   * Gives the other row that the record of a row shows (null: it shows none), where the record depends on these
   * two alone, so that its text can be kept. `undefined`: records of this request depend on more.
   */
  readonly shows?: (input: I) => ((row: R) => object | null) | undefined;
  /**
   * The table that the rows come from. A list has its rows for which `isIn` holds, in the order of their keys, and shows
   * each without any other row, so a watched list can follow the changes of the table. `undefined`: this request cannot.
   */
  readonly follows?: (input: I) => Following<R> | undefined;
  /** The value of a field by which the list is sorted, where the row does not have it as it is. */
  readonly sortedBy?: (row: R, field: string, input: I) => unknown;
  /** Reads from the snapshot all that `present` reads, where that is less work than presenting. */
  readonly reads?: (row: R, input: I) => void;
}

export interface ListRun extends ListRows {
  readonly kind: 'list';
  readonly filterSchema: (input: Input) => TSchema;
  readonly check: RowCheck | undefined;
  /** The fields by which it can be sorted. */
  readonly sorts: readonly string[];
  readonly present: (row: unknown, input: Input) => unknown;
  /** Turns the presented rows into other records; `undefined`: the request wants the rows. */
  readonly gather?: (input: Input) => Gather<unknown> | undefined;
}

/** Makes records out of the presented rows of a page. */
export interface Gather<T, G = unknown> {
  /** The greatest page size. Absent: all rows are gathered, without pages. */
  readonly countMax?: number;
  readonly of: (shown: readonly T[]) => readonly G[];
}

export interface PageStart {
  readonly from: readonly string[] | undefined;
  readonly reverse: boolean;
}

/** The answer of a write. `index` is sent as a header. */
export interface Reply<V = unknown> {
  readonly index?: number;
  readonly value: V;
  /** Names and ids of created records, for the audit log. Never a secret. */
  readonly made?: Readonly<Record<string, string>>;
}
