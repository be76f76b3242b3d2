import type { TSchema } from 'typebox';
import type { WrittenInput as Given, Model } from '../model/schema.ts';
import type { Needs } from './needs.ts';
import type { QueryTable } from './query.ts';
import type { Visible } from './visible.ts';

/**
 * The API's promises: a value for each endpoint. The server (`api/`) implements it, the client
 * (`sdk/`) takes its types from it, and the OpenAPI document, the matrix of permissions and the
 * fuzzers read it. An endpoint without a permission does not type-check.
 */
export interface Definition {
  readonly kind: Kind;
  /** By default GET. All methods do the same; documents name the first. */
  readonly methods?: Methods;
  /** `/v1/job/:job_id+/allocations`. A parameter with `+` may contain slashes. */
  readonly path: string;
  readonly summary: string;
  /** Whether requests can wait until the answer changes. */
  readonly blocking?: true;
  readonly query?: QueryTable;
  readonly body?: BodyDefinition;
  /** The answer of a 200; for a list, one item. */
  readonly answer?: TSchema;
  /** The schema of filters of a list, unless it depends on the request. */
  readonly filter?: TSchema;
  /** The fields of its rows by which a list can be sorted. */
  readonly sorts?: readonly string[];
  readonly permission: Needs;
  /** The permission to see a record of a list. */
  readonly visible?: Visible;
  /** The OpenAPI tag, if it is not the tag of the group. */
  readonly noun?: string;
  /** An unknown token counts as no token. */
  readonly takesOldTokens?: true;
  /** It tells of the server that is asked: it answers at once, whatever that knows of the others. */
  readonly isOfServer?: true;
  /** It ends the term of the leader that runs it, so the next leader answers a request with a key. */
  readonly endsTerm?: true;
}

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';
type Methods = readonly [Method, ...Method[]];

/**
 * `read` and `list` answer from one snapshot; `write` changes the state; the answer of a `stream`
 * lasts until the caller leaves; a `socket` is a WebSocket with a session.
 */
export type Kind = 'read' | 'list' | 'write' | 'stream' | 'socket';

/** The dialect of the endpoint: names of headers, and how a request gives its namespace. */
export type Family = 'registry' | 'scheduler';

export interface Identity {
  /** `jobs.register`. It never changes. */
  readonly id: string;
  /** The OpenAPI tag. */
  readonly noun: string;
  readonly family: Family;
}

export interface Endpoint extends Omit<Definition, 'noun' | 'methods'>, Identity {
  readonly methods: Methods;
}

export interface BodyDefinition {
  readonly schema: TSchema;
  /** An absent body is `{}`. */
  readonly optional?: true;
  /** By default `limits.http.bodyBytesMax`. */
  readonly bytesMax?: number;
  /** Unknown fields are refused, or reported in `input.unknownFields`. */
  readonly unknown: 'refuse' | 'report';
  /** Bounds and choices are checked later, with the other rules of the noun. */
  readonly checkValues?: false;
  /**
   * Faults in the form are put into `input.bodyFaults`, to be reported with those in the content.
   */
  readonly faults?: 'later';
  /** The body is arbitrary bytes instead of JSON, put into this field as base64. */
  readonly raw?: string;
  /** The body is bytes that the handler reads itself, after all checks (`StreamInput.pieces`). */
  readonly isStreamed?: true;
  /** The example in documents, where a generated one says too little. */
  readonly example?: object;
  /** Decodes the body, where its schema depends on its content. */
  readonly decode?: (parsed: unknown) => unknown;
}

interface Group {
  /** The first word of the endpoints' ids. */
  readonly group: string;
  readonly noun: string;
  readonly family: Family;
}

/** The endpoints of a noun, by the second word of their ids. */
export function endpoints<const T extends Readonly<Record<string, Definition>>>(
  { group, noun, family }: Group,
  table: T,
): { readonly [K in keyof T]: WithoutFilter<T[K]> & Identity & MethodsOf<T[K]> } {
  const named = Object.entries(table).map(([name, definition]) => [
    name,
    { noun, methods: ['GET'], ...definition, id: `${group}.${name}`, family },
  ]);
  return Object.fromEntries(named);
}

/** No type depends on the schema of filters, which would make the published types much larger. */
type WithoutFilter<D> = { readonly [K in keyof D]: K extends 'filter' ? TSchema : D[K] };

type MethodsOf<D> = D extends { readonly methods: Methods }
  ? unknown
  : { readonly methods: readonly ['GET'] };

declare const shape: unique symbol;
declare const input: unique symbol;

/** A schema of records of type `T`. */
export type Typed<T> = TSchema & { readonly [shape]: T };

/** A schema whose records callers may write as `W`. */
export type Written<T, W> = Typed<T> & { readonly [input]: W };

/**
 * Gives a schema a named type. Needed where the inferred type differs from the answers (hidden or
 * optional fields), or is too large for readable messages.
 */
export const typed = <T>(schema: TSchema): Typed<T> => schema as Typed<T>;

export const written = <T, W>(schema: TSchema): Written<T, W> => schema as Written<T, W>;

type RecordOf<S> = S extends TSchema ? NamedOr<S, Model<S>> : never;

/** The parameters of an endpoint, without those that it shares with all endpoints of its kind. */
export type QueryOf<E> = E extends { readonly query: infer Q extends QueryTable }
  ? Q
  : Record<never, never>;

/** A decoded record: any field may be absent, and choices are not checked yet. */
type Decoded<T> = T extends readonly (infer I)[]
  ? readonly Decoded<I>[]
  : T extends string
    ? string
    : T extends number
      ? T
      : T extends object
        ? { readonly [K in keyof T]?: Decoded<T[K]> }
        : T;

type SchemaOfBody<E> = E extends { readonly body: { readonly schema: infer S } } ? S : undefined;

type NamedOr<S, T> = S extends { readonly [shape]: infer N } ? N : T;

/** The body in a handler. */
export type BodyOf<E> =
  SchemaOfBody<E> extends infer S extends TSchema ? NamedOr<S, Decoded<Model<S>>> : undefined;

/** The body in a request. Any field may be null. */
export type GivenBodyOf<E> =
  SchemaOfBody<E> extends infer S extends TSchema
    ? S extends { readonly [input]: infer W }
      ? W
      : NamedOr<S, Given<Model<S>>>
    : undefined;

/** The answer of a 200; for a list, one item. */
export type ItemOf<E> = E extends { readonly answer: infer S } ? RecordOf<S> : unknown;

/** The answer of a 200. */
export type AnswerOf<E> = E extends { readonly kind: 'list' } ? readonly ItemOf<E>[] : ItemOf<E>;

/** The parameters in a path. */
export type ParametersOf<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in WithoutPlus<Name>]: string } & ParametersOf<Rest>
  : P extends `${string}:${infer Name}`
    ? { readonly [K in WithoutPlus<Name>]: string }
    : unknown;

type WithoutPlus<Name extends string> = Name extends `${infer Plain}+` ? Plain : Name;
