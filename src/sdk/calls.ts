import type {
  AnswerOf,
  Endpoint,
  GivenBodyOf,
  ParametersOf,
  QueryOf,
} from '../contract/endpoint.ts';
import type { QueryValue } from '../contract/query.ts';
import type { SharedQuery } from '../contract/shared-query.ts';
import type {
  Answer,
  CallOptions,
  Query,
  ReadOptions,
  Requester,
  StreamOptions,
  Written,
} from './requester.ts';
import type { Method, OpenSocket } from './transport.ts';

/**
 * Calls with the types of the contract. A call is named by the method and path of its endpoint; a
 * call that does not fit the endpoint is a type error. Only types are imported, so the bundle
 * contains no contract.
 */
export interface Calls<C> {
  read<R extends RequestIn<C>>(
    request: R,
    path: PathOf<EndpointAt<C, R>>,
    options?: ReadOptions,
    query?: QueryGiven<EndpointAt<C, R>>,
  ): Promise<Answer<AnswerOf<EndpointAt<C, R>>>>;
  write<R extends RequestIn<C>>(
    request: R,
    path: PathOf<EndpointAt<C, R>>,
    options?: CallOptions,
    given?: {
      readonly body?: GivenBodyOf<EndpointAt<C, R>>;
      readonly query?: QueryGiven<EndpointAt<C, R>>;
    },
  ): Promise<Written<AnswerOf<EndpointAt<C, R>>>>;
  /** The body in chunks, without a limit of time or size. Leaving the loop ends the request. */
  stream<R extends RequestIn<C>>(
    request: R,
    path: PathOf<EndpointAt<C, R>>,
    options?: StreamOptions,
    query?: QueryGiven<EndpointAt<C, R>>,
  ): AsyncIterable<Uint8Array>;
  openSocket<R extends RequestIn<C>>(
    request: R,
    path: PathOf<EndpointAt<C, R>>,
    options?: CallOptions,
    query?: QueryGiven<EndpointAt<C, R>>,
  ): Promise<OpenSocket>;
}

/** An endpoint of one of the nouns `C`. */
type EndpointIn<C> = C extends unknown ? C[keyof C] : never;

type RequestTo<E> = E extends Endpoint ? `${E['methods'][number]} ${E['path']}` : never;

/** `GET /v1/job/:job_id+`. */
type RequestIn<C> = RequestTo<EndpointIn<C>>;

type EndpointAt<C, R> = AtRequest<EndpointIn<C>, R>;
type AtRequest<E, R> = E extends Endpoint ? (R extends RequestTo<E> ? E : never) : never;

/** The values of the path's parameters. */
type PathOf<E> = E extends Endpoint
  ? ParametersOf<E['path']> extends infer P
    ? unknown extends P
      ? Record<never, never>
      : P
    : never
  : never;

/** The endpoint's own parameters, and those that `ReadOptions` and `ListOptions` become. */
type QueryGiven<E> = {
  readonly [N in keyof QueryOf<E> | keyof OfLists]?:
    | (N extends keyof QueryOf<E> ? QueryValue<QueryOf<E>[N]> : OfLists[N & keyof OfLists])
    | undefined;
};

interface OfLists
  extends Pick<
    SharedQuery,
    'filter' | 'per_page' | 'next_token' | 'reverse' | 'total' | 'server_id'
  > {
  readonly prefix: string;
  readonly partition: string;
  readonly sort: string;
}

/** The calls to the endpoints of the nouns `C`. */
export function callsOf<C>(requester: Requester): Calls<C> {
  return {
    read: (request, path, options, query) =>
      requester.read(filled(request, path), options, query as Query),
    write: (request, path, options, { body, query } = {}) => {
      const method = request.slice(0, request.indexOf(' ')) as Method;
      const target = { method, path: filled(request, path) };
      return requester.write(target, options, body, query as Query);
    },
    stream: (request, path, options, query) =>
      requester.stream(filled(request, path), options, query as Query),
    openSocket: (request, path, options, query) =>
      requester.openSocket(filled(request, path), options, query as Query),
  };
}

/** Values in the path are percent-encoded, including slashes. */
const filled = (request: string, path: object): string =>
  request
    .slice(request.indexOf(' ') + 1)
    .replace(/:([a-z_]+)\+?/g, (_, name: string) =>
      encodeURIComponent((path as Readonly<Record<string, string>>)[name]!),
    );
