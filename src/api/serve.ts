import type { TSchema } from 'typebox';
import type { Steps } from '../base/steps.ts';
import type {
  AnswerOf,
  BodyOf,
  Endpoint,
  ItemOf,
  ParametersOf,
  QueryOf,
} from '../contract/endpoint.ts';
import { type FoundOf, permissionBy } from '../contract/needs.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { ForeignDialect } from './dialect/dialect.ts';
import { dialectOf } from './dialect/dialects.ts';
import type { Answer } from './http.ts';
import type { Gather, Input, Opened, PageStart, Reply, Route, Run, StreamInput } from './route.ts';

/**
 * Routes out of what an endpoint promises and what the server does for it: one for each method. What a
 * handler gets and gives has the types of the endpoint. This is the one place where they are forgotten:
 * the pipeline fills `query` and `body` by the very tables and schemas the types came from.
 */

/** What the handler of an endpoint gets. */
export type InputOf<E extends Endpoint> = Input<
  QueryOf<E>,
  BodyOf<E>,
  ParametersOf<E['path']> & Readonly<Record<string, string>>
>;

/** Looks up the rows that the permission depends on; demanded where there are any. */
type Finding<E extends Endpoint> = [FoundOf<E>] extends [undefined]
  ? { readonly found?: undefined }
  : { readonly found: (input: InputOf<NoInfer<E>>) => FoundOf<E> };

/** Nothing more has to be said, unless the permission depends on rows. */
type More<E extends Endpoint, O = unknown> = [FoundOf<E>] extends [undefined]
  ? [options?: O]
  : [options: O & Finding<NoInfer<E>>];

interface RowOptions<E extends Endpoint> {
  /** The value is a row of the state, whose encoding can be kept. */
  readonly answersRow?: true | ((input: InputOf<NoInfer<E>>) => boolean);
  /** A list of objects all of whose fields are rows or null. */
  readonly answersRows?: true;
}

type Reading = Endpoint & { readonly kind: 'read' };
type Listing = Endpoint & { readonly kind: 'list' };
type Writing = Endpoint & { readonly kind: 'write' };
type Streaming = Endpoint & { readonly kind: 'stream' };
type Socketing = Endpoint & { readonly kind: 'socket' };

export function serveRead<const E extends Reading>(
  endpoint: E,
  handle: (input: InputOf<NoInfer<E>>) => AnswerOf<NoInfer<E>>,
  ...[options]: More<NoInfer<E>, RowOptions<NoInfer<E>>>
): Route[] {
  const { answersRow, answersRows } = (options ?? {}) as RowOptions<NoInfer<E>>;
  const isRow = typeof answersRow === 'function' ? answersRow : () => answersRow === true;
  const rowsIn = (input: InputOf<NoInfer<E>>) => {
    if (answersRows) return 'fields of items';
    return isRow(input) ? 'value' : 'none';
  };
  const own = { rowsIn, handle, isInSteps: false };
  return routesOf(endpoint, options, {
    kind: 'read',
    blocking: endpoint.blocking ?? false,
    ...own,
  });
}

/** An answer that may take long to make: it is made in steps, between which others go first. */
export function serveSteps<const E extends Reading>(
  endpoint: E,
  steps: (input: InputOf<NoInfer<E>>) => Steps<AnswerOf<NoInfer<E>>>,
  ...[options]: More<NoInfer<E>>
): Route[] {
  const own = { rowsIn: () => 'none', handle: steps, isInSteps: true };
  return routesOf(endpoint, options, {
    kind: 'read',
    blocking: endpoint.blocking ?? false,
    ...own,
  });
}

interface Rows<E extends Endpoint, R> {
  /** Where it is the request that says what is listed, and so what is filtered. */
  readonly filterSchema?: (input: InputOf<NoInfer<E>>) => TSchema;
  /** The rows in order, from the key of a page token on. */
  readonly rows: (input: InputOf<NoInfer<E>>, page: PageStart) => Iterable<R>;
  /** The key that a page token carries, of the first row of the next page. */
  readonly keyOf: (row: R, input: InputOf<NoInfer<E>>) => readonly string[];
  /** Rows of the range that the request does not ask for are left out before paging. */
  readonly matches?: (row: R, input: InputOf<NoInfer<E>>) => boolean;
  /** Whether the caller may see the row; asked with `namespace=*`, or of every row. */
  readonly visible?: (row: R) => Permission;
  readonly asksEach?: boolean;
  /** What filters see of a row; the default is the row itself. */
  readonly record?: (row: R, input: InputOf<NoInfer<E>>) => unknown;
  /** Reads what `present` reads through the snapshot, where that is less work than presenting. */
  readonly reads?: (row: R, input: InputOf<NoInfer<E>>) => void;
}

export const serveList = <const E extends Listing, R>(
  endpoint: E,
  list: Rows<NoInfer<E>, R> & {
    readonly present: (row: R, input: InputOf<NoInfer<E>>) => ItemOf<NoInfer<E>>;
  } & Finding<NoInfer<E>>,
): Route[] => listRoutes(endpoint, list);

/** A list that shows something else than its rows one by one. */
export const serveGathered = <const E extends Listing, R, S>(
  endpoint: E,
  list: Rows<NoInfer<E>, R> & {
    readonly present: (row: R, input: InputOf<NoInfer<E>>) => S;
    /** `undefined`: this request wants them as they are. */
    readonly gather: (input: InputOf<NoInfer<E>>) => Gather<S, ItemOf<NoInfer<E>>> | undefined;
  } & Finding<NoInfer<E>>,
): Route[] => listRoutes(endpoint, list);

function listRoutes(endpoint: Endpoint, list: object): Route[] {
  const { blocking = false, filter: filterSchema } = endpoint;
  return routesOf(endpoint, list, { kind: 'list', blocking, filterSchema, ...list });
}

export function serveWrite<const E extends Writing>(
  endpoint: E,
  handle: (input: InputOf<NoInfer<E>>) => Promise<Reply<AnswerOf<NoInfer<E>>>>,
  ...[options]: More<NoInfer<E>>
): Route[] {
  const { takesOldTokens } = endpoint;
  const own = { handle, ...(takesOldTokens && { takesOldTokens }) };
  return routesOf(endpoint, options, { kind: 'write', ...own });
}

export const serveStream = <const E extends Streaming>(
  endpoint: E,
  handle: (input: StreamInput<InputOf<NoInfer<E>>>, signal: AbortSignal) => Promise<Answer>,
  ...[options]: More<NoInfer<E>>
): Route[] => routesOf(endpoint, options, { kind: 'stream', handle });

export const serveSocket = <const E extends Socketing>(
  endpoint: E,
  open: (input: InputOf<NoInfer<E>>) => Promise<Opened>,
  ...[options]: More<NoInfer<E>>
): Route[] => routesOf(endpoint, options, { kind: 'socket', open });

function routesOf(endpoint: Endpoint, options: unknown, own: object): Route[] {
  const { path, noun, summary, family, query = {}, body, answer } = endpoint;
  const run = { ...own, permission: permissionOf(endpoint, options) } as unknown as Run;
  const dialect = dialectOf[family];
  const shared = { endpoint, path, noun, summary, family, dialect, query, body, answer, run };
  return endpoint.methods.map((method) => ({ method, ...shared }));
}

function permissionOf({ permission: needs }: Endpoint, options: unknown) {
  if (needs.kind !== 'decided') return permissionBy(needs);
  const { found } = (options ?? {}) as { readonly found?: (input: Input) => unknown };
  return (input: Input): Permission => needs.decide(input, found?.(input));
}

/** The same routes in another dialect, under its own paths. */
export const spokenIn = (dialect: ForeignDialect, routes: readonly Route[]): Route[] =>
  routes.flatMap((route) => {
    const path = dialect.pathOf(route.endpoint);
    return path === undefined ? [] : [{ ...route, dialect, path }];
  });
