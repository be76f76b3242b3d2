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
import { type RowOf, rowCheckOf } from '../contract/visible.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { ForeignDialect } from './dialect/dialect.ts';
import { dialectOf } from './dialect/dialects.ts';
import type { Answer } from './http.ts';
import type {
  Gather,
  Input,
  ListRows,
  Opened,
  Reply,
  Route,
  Run,
  StreamInput,
  WithoutLeader,
} from './route.ts';

/**
 * Makes routes from an endpoint and its handler, one for each method. Handlers have the types of
 * the endpoint. These types are dropped only here: the pipeline fills `query` and `body` by the
 * same tables and schemas.
 */

/** The input of an endpoint's handler. */
export type InputOf<E extends Endpoint> = Input<
  QueryOf<E>,
  BodyOf<E>,
  ParametersOf<E['path']> & Readonly<Record<string, string>>
>;

/** `found` looks up the rows that the permission depends on; required if there are any. */
type Finding<E extends Endpoint> = [FoundOf<E>] extends [undefined]
  ? { readonly found?: undefined }
  : { readonly found: (input: InputOf<NoInfer<E>>) => FoundOf<E> };

/** Options are required only if the permission depends on rows. */
type More<E extends Endpoint, O = unknown> = [FoundOf<E>] extends [undefined]
  ? [options?: O]
  : [options: O & Finding<NoInfer<E>>];

interface RowOptions<E extends Endpoint> {
  /** The answer is a row of the state, whose encoding is kept. */
  readonly answersRow?: true | ((input: InputOf<NoInfer<E>>) => boolean);
  /** The answer is a list of objects whose fields are rows or null. */
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
  return routesOf(endpoint, options, { rowsIn, handle, isInSteps: false });
}

/** An answer that may take long: it is made in steps, and other requests go first in between. */
export const serveSteps = <const E extends Reading>(
  endpoint: E,
  handle: (input: InputOf<NoInfer<E>>) => Steps<AnswerOf<NoInfer<E>>>,
  ...[options]: More<NoInfer<E>>
): Route[] => routesOf(endpoint, options, { rowsIn: () => 'none', handle, isInSteps: true });

export const serveList = <const E extends Listing, R extends RowOf<E>>(
  endpoint: E,
  list: ListRows<R, InputOf<NoInfer<E>>> & {
    readonly present: (row: R, input: InputOf<NoInfer<E>>) => ItemOf<NoInfer<E>>;
  } & Finding<NoInfer<E>>,
): Route[] => listRoutes(endpoint, list);

/** A list whose records are made of many rows each, or chosen among all. */
export const serveGathered = <const E extends Listing, R extends RowOf<E>, S>(
  endpoint: E,
  list: ListRows<R, InputOf<NoInfer<E>>> & {
    readonly present: (row: R, input: InputOf<NoInfer<E>>) => S;
    /** `undefined`: the request wants the presented rows. */
    readonly gather: (input: InputOf<NoInfer<E>>) => Gather<S, ItemOf<NoInfer<E>>> | undefined;
  } & Finding<NoInfer<E>>,
): Route[] => listRoutes(endpoint, list);

const listRoutes = (endpoint: Endpoint, list: object): Route[] =>
  routesOf(endpoint, list, {
    filterSchema: () => endpoint.filter,
    check: rowCheckOf(endpoint),
    sorts: endpoint.sorts ?? [],
    ...list,
  });

export function serveWrite<const E extends Writing>(
  endpoint: E,
  handle: (input: InputOf<NoInfer<E>>) => Promise<Reply<AnswerOf<NoInfer<E>>>>,
  ...[options]: More<NoInfer<E>, { readonly withoutLeader?: WithoutLeader<InputOf<NoInfer<E>>> }>
): Route[] {
  const { withoutLeader } = (options ?? {}) as { readonly withoutLeader?: WithoutLeader };
  return routesOf(endpoint, options, { handle, ...(withoutLeader && { withoutLeader }) });
}

export const serveStream = <const E extends Streaming>(
  endpoint: E,
  handle: (input: StreamInput<InputOf<NoInfer<E>>>, signal: AbortSignal) => Promise<Answer>,
  ...[options]: More<NoInfer<E>>
): Route[] => routesOf(endpoint, options, { handle });

export const serveSocket = <const E extends Socketing>(
  endpoint: E,
  open: (input: InputOf<NoInfer<E>>) => Promise<Opened>,
  ...[options]: More<NoInfer<E>>
): Route[] => routesOf(endpoint, options, { open });

function routesOf(endpoint: Endpoint, options: unknown, handlers: object): Route[] {
  const { kind, path, family, methods } = endpoint;
  const run = { kind, ...handlers } as unknown as Run;
  const permission = permissionOf(endpoint, options);
  const shared = { endpoint, path, dialect: dialectOf[family], permission, run };
  return methods.map((method) => ({ method, ...shared }));
}

function permissionOf({ permission: needs }: Endpoint, options: unknown) {
  if (needs.kind !== 'decided') return permissionBy(needs);
  const { found } = (options ?? {}) as { readonly found?: (input: Input) => unknown };
  // Rows that are read for the permission do not belong to the footprint of a read.
  return (input: Input): Permission =>
    needs.decide(input, found?.({ ...input, snapshot: input.unwatched }));
}

/** Routes of a further dialect, under its own paths. */
export const spokenIn = (dialect: ForeignDialect, routes: readonly Route[]): Route[] =>
  routes.flatMap((route) => {
    const path = dialect.pathOf(route.endpoint);
    return path === undefined ? [] : [{ ...route, dialect, path }];
  });
