import type { TSchema } from 'typebox';
import type { Input as Given, Model } from '../model/schema.ts';
import type { Needs } from './needs.ts';
import type { QueryTable } from './query.ts';

/**
 * An endpoint, as a value, with all that the API promises of it. `api/` serves it, `sdk/` takes its types
 * from it, and the OpenAPI document, the matrix of permissions and the fuzzers read it. An endpoint
 * without a permission does not type-check.
 */
export interface Definition {
  readonly kind: Kind;
  /** All of them do the same. The first is the one that documents name. */
  readonly methods: readonly [Method, ...Method[]];
  /** `/v1/job/:job_id+/allocations`; `+`: may contain slashes. */
  readonly path: string;
  readonly summary: string;
  /** Whether it can wait until the answer changes. */
  readonly blocking?: true;
  readonly query?: QueryTable;
  readonly body?: BodyDefinition;
  /** The body of a 200; of a list, one item. */
  readonly answer?: TSchema;
  /** Of a list: what filters are typed against, unless that depends on the request. */
  readonly filter?: TSchema;
  readonly permission: Needs;
  /** Instead of the tag of its group. */
  readonly noun?: string;
  /** A token that is not known any more counts as none. */
  readonly takesOldTokens?: true;
}

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

/**
 * `read` and `list` look at one state; `write` changes it; the answer of a `stream` goes on for as long
 * as the caller wants; a `socket` is a WebSocket that carries a session.
 */
export type Kind = 'read' | 'list' | 'write' | 'stream' | 'socket';

/** Which dialect the endpoint speaks: the names of its headers, and how it is told the place. */
export type Family = 'registry' | 'scheduler';

/** Names the endpoint, and groups it with others. */
export interface Identity {
  /** `jobs.register`: stays the same for ever. */
  readonly id: string;
  /** The tag of the OpenAPI document. */
  readonly noun: string;
  readonly family: Family;
}

export interface Endpoint extends Omit<Definition, 'noun'>, Identity {}

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
  /** Shown in documents, where that which is made of the schema would not tell enough. */
  readonly example?: object;
  /** Reads the body instead, where its schema depends on what stands in it. */
  readonly decode?: (parsed: unknown) => unknown;
}

interface Group {
  /** The first word of the ids. */
  readonly group: string;
  readonly noun: string;
  readonly family: Family;
}

/** The endpoints of a noun, by the second word of their ids. */
export function endpoints<const T extends Readonly<Record<string, Definition>>>(
  { group, noun, family }: Group,
  table: T,
): { readonly [K in keyof T]: T[K] & Identity } {
  const named = Object.entries(table).map(([name, definition]) => [
    name,
    { noun, ...definition, id: `${group}.${name}`, family },
  ]);
  return Object.fromEntries(named);
}

declare const shape: unique symbol;
declare const written: unique symbol;

/** A schema whose records are taken for `T`, and may be written as `W`. */
export type Typed<T, W = T> = TSchema & { readonly [shape]: T; readonly [written]: W };

/**
 * Says the type of a schema by name, where it is not what the schema alone would give (fields that are
 * hidden, or not there in every answer), or so large that its name is worth having in messages.
 */
export const typed = <T, W = T>(schema: TSchema): Typed<T, W> => schema as Typed<T, W>;

type RecordOf<S> = S extends TSchema ? NamedOr<S, Model<S>> : never;

/** The query of an endpoint, without the parameters that all of its kind share. */
export type QueryOf<E> = E extends { readonly query: infer Q extends QueryTable }
  ? Q
  : Record<never, never>;

/** A record as the codec reads it: any field absent, choices not yet checked. */
type Decoded<T> = T extends readonly (infer I)[]
  ? readonly Decoded<I>[]
  : T extends string
    ? string
    : T extends object
      ? { readonly [K in keyof T]?: Decoded<T[K]> }
      : T;

type SchemaOfBody<E> = E extends { readonly body: { readonly schema: infer S } } ? S : undefined;

type NamedOr<S, T> = S extends { readonly [shape]: infer N } ? N : T;

/** The body as a handler gets it. */
export type BodyOf<E> =
  SchemaOfBody<E> extends infer S extends TSchema ? NamedOr<S, Decoded<Model<S>>> : undefined;

/** The body as a caller may give it: any field may be null as well. */
export type GivenBodyOf<E> =
  SchemaOfBody<E> extends infer S extends TSchema
    ? S extends { readonly [written]: infer W }
      ? W
      : Given<Model<S>>
    : undefined;

/** The body of a 200; of a list, one item. */
export type ItemOf<E> = E extends { readonly answer: infer S } ? RecordOf<S> : unknown;

/** The body of a 200. */
export type AnswerOf<E> = E extends { readonly kind: 'list' } ? readonly ItemOf<E>[] : ItemOf<E>;

/** The names in a path, with their texts. */
export type ParametersOf<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in WithoutPlus<Name>]: string } & ParametersOf<Rest>
  : P extends `${string}:${infer Name}`
    ? { readonly [K in WithoutPlus<Name>]: string }
    : unknown;

type WithoutPlus<Name extends string> = Name extends `${infer Plain}+` ? Plain : Name;
