/**
 * The words that the nouns' schemas are written in: JSON Schema with the default of every property
 * (`default`). `codec.ts` reads input by a schema, `complete.ts` fills in defaults, `check-values.ts` holds
 * values against bounds and choices, OpenAPI prints it.
 *
 * Annotations
 *  x-unit: 'ns'           an integer that may also be written as a duration ("30s")
 *  x-unit: 'instant'      Unix nanoseconds as fine as a millisecond: beyond what is a safe integer
 *  x-free: true           anything may stand here and is taken as it is, at any depth
 *  x-response-only: true  the server's to set: known in a request, and ignored there
 *  x-hidden: true         kept by the server, never presented
 *  x-secret: true         no message repeats it
 *  x-written: true        text that may be written as a number or a boolean
 *  x-absent: text         the default in words, where it depends on other fields
 *  x-rules: text          rules for a value beyond its schema
 *  x-words: kind          other systems have other words for its choices (`language/words`)
 */
import Type from 'typebox';
import { noInstant } from '../base/instant.ts';
import type { WordKind } from '../language/words/field-words.ts';

/** Plain data all the way down, as the model keeps it. */
export type Immutable<T> = T extends readonly (infer I)[]
  ? readonly Immutable<I>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T;

/** The type of a schema's records. */
export type Model<S extends Type.TSchema> = Immutable<Type.Static<S>>;

/**
 * A record as input may give it: any field absent or null, choices not yet checked (those are the
 * validator's, so that all faults come together).
 */
export type Input<T> = T extends readonly (infer I)[]
  ? readonly Input<I>[]
  : T extends string
    ? string
    : T extends object
      ? { readonly [K in keyof T]?: Input<T[K]> | null | undefined }
      : T;

type Text = { maxLength?: number; default?: string };

export const Text = (options: Text = {}) => Type.String({ default: '', ...options });

/** One of a few words. List `''` where the word may stay open. */
export const Choice = <const V extends readonly string[]>(
  values: V,
  absent: V[number] | '' = '',
  words?: WordKind,
) =>
  Type.Unsafe<V[number]>({
    type: 'string',
    enum: values,
    default: absent,
    ...(words !== undefined && { 'x-words': words }),
  });

type Range = { minimum?: number; maximum?: number; default?: number };

export const Whole = (options: Range = {}) => Type.Integer({ default: 0, ...options });

/** An integer of nanoseconds. */
export const Nanoseconds = (options: Range = {}) =>
  Type.Integer({ default: 0, ...options, 'x-unit': 'ns' });

/** A duration that answers tell as a number, where the others are text. */
export const CountedNanoseconds = (options: Range = {}) =>
  Type.Integer({ default: 0, ...options, 'x-unit': 'ns', 'x-shown': 'number' });

/** An instant: Unix nanoseconds, 0 for never (`base/instant.ts`). */
export const Instant = () => Type.Integer({ default: 0, 'x-unit': 'instant' });

/** An instant as answers tell it: RFC 3339, the year 1 for never. */
export const Moment = (description: string) =>
  Type.String({ default: noInstant, format: 'date-time', description });

export const Flag = (absent = false) => Type.Boolean({ default: absent });

/** The schema or null, which is also what stands when it is absent. */
export const Nullable = <S extends Type.TSchema>(schema: S) =>
  Type.Union([schema, Type.Null()], { default: null });

/** A list; an empty one is kept as null, so that `[]` never counts as a change. */
export const List = <S extends Type.TSchema>(item: S) => Nullable(Type.Array(item));

/** A list that is always there. */
export const FullList = <S extends Type.TSchema>(item: S) => Type.Array(item, { default: [] });

/** Caller's names to values; an empty one is kept as null. */
export const MapOf = <S extends Type.TSchema>(value: S) =>
  Nullable(Type.Record(Type.String(), value));

/** Names to values, always there. */
export const FullMapOf = <S extends Type.TSchema>(value: S) =>
  Type.Record(Type.String(), value, { default: {} });

/** Names to text. */
export const TextMap = () => MapOf(Type.String());

/** Names to text, which may be written as numbers and booleans, as in HCL. */
export const WrittenTextMap = () => MapOf(Type.String({ 'x-written': true }));

/** Names to text that nobody else is to see: no fault repeats one. */
export const SecretTextMap = () => MapOf(Type.String({ 'x-secret': true }));

/** Anything at all, taken as it is. */
export const Anything = () => Type.Unsafe<unknown>({ 'x-free': true, default: null });

/** Names to anything, taken as they are. */
export const FreeMap = () => MapOf(Anything());

interface Told {
  /** The default, as the end of "the default is …"; only where `default` is not it. */
  readonly absent?: string;
  /** Rules for a value beyond its schema, as a clause: "at least `MemoryMB`". */
  readonly rules?: string;
}

/** The schema with what it means: read by people in the OpenAPI and in the reference of jobs. */
export const About = <S extends Type.TSchema>(
  description: string,
  schema: S,
  { absent, rules }: Told = {},
): S =>
  Type.Unsafe({
    ...schema,
    description,
    ...(absent !== undefined && { 'x-absent': absent }),
    ...(rules !== undefined && { 'x-rules': rules }),
  }) as unknown as S;

/** Marks what only the server sets. */
export const ResponseOnly = <S extends Type.TSchema>(schema: S): S =>
  Type.Unsafe({ ...schema, 'x-response-only': true }) as unknown as S;

/** Marks what the server keeps and never presents. */
export const Hidden = <S extends Type.TSchema>(schema: S): S =>
  Type.Unsafe({ ...schema, 'x-hidden': true }) as unknown as S;

/** What every stored record carries (`state/types.ts`). */
export const stamps = {
  CreateIndex: About('Index of the write that made it.', ResponseOnly(Whole())),
  ModifyIndex: About('Index of its last change.', ResponseOnly(Whole())),
};

export { Type };
