/**
 * The functions that write the schemas of nouns: JSON Schema with the default of every property (`default`).
 * `codec.ts` reads input by a schema, `complete.ts` fills in defaults, `check-values.ts` checks bounds and
 * choices, and OpenAPI prints it.
 *
 * Annotations
 *
 * - x-unit: 'ns' — an integer that may also be written as a duration ("30s")
 * - x-unit: 'instant' — Unix nanoseconds, exact to the millisecond: beyond the safe integers
 * - x-free: true — any value, which is kept as it is, at any depth
 * - x-response-only: true — set by the server: known in a request, and ignored there
 * - x-hidden: true — kept by the server, never presented
 * - x-secret: true — no message repeats the value
 * - x-written: true — text that may be written as a number or a boolean
 * - x-absent: text — the default in words, if it depends on other fields
 * - x-rules: text — rules for a value beyond its schema
 * - x-words: kind — other systems have other words for its choices (`language/words`)
 */
import Type from 'typebox';
import { noInstant } from '../base/instant.ts';
import type { WordKind } from '../language/words/field-words.ts';

declare const unit: unique symbol;

/** A duration in nanoseconds. Any number is one; the mark tells inputs that a text such as `30s` is one, too. */
export type Nanoseconds = number & { readonly [unit]?: 'ns' };

/** Plain data, immutable at every depth. */
export type Immutable<T> = T extends readonly (infer I)[]
  ? readonly Immutable<I>[]
  : T extends number
    ? T
    : T extends object
      ? { readonly [K in keyof T]: Immutable<T[K]> }
      : T;

/** The type of a schema's records. */
export type Model<S extends Type.TSchema> = Immutable<Type.Static<S>>;

/**
 * A record as input may give it: any field absent or null. Choices are not checked yet; the validator checks
 * them, so that all faults are told together.
 */
export type Input<T> = T extends readonly (infer I)[]
  ? readonly Input<I>[]
  : T extends string
    ? string
    : T extends number
      ? T
      : T extends object
        ? { readonly [K in keyof T]?: Input<T[K]> | null | undefined }
        : T;

/** The same as a caller may write it: a duration in nanoseconds, or as a text such as `30s`. */
export type WrittenInput<T> = T extends readonly (infer I)[]
  ? readonly WrittenInput<I>[]
  : T extends string
    ? string
    : T extends number
      ? typeof unit extends keyof T
        ? number | string
        : T
      : T extends object
        ? { readonly [K in keyof T]?: WrittenInput<T[K]> | null | undefined }
        : T;

type Text = { maxLength?: number; default?: string };

export const Text = (options: Text = {}) => Type.String({ default: '', ...options });

/** A choice of words. List `''` if the choice may stay open. */
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
  Type.Unsafe<Nanoseconds>(Type.Integer({ default: 0, ...options, 'x-unit': 'ns' }));

/** A duration that answers show as a number, where other durations are text. */
export const CountedNanoseconds = (options: Range = {}) =>
  Type.Unsafe<Nanoseconds>(
    Type.Integer({ default: 0, ...options, 'x-unit': 'ns', 'x-shown': 'number' }),
  );

/** An instant: Unix nanoseconds, 0 for never (`base/instant.ts`). */
export const Instant = () => Type.Integer({ default: 0, 'x-unit': 'instant' });

/** An instant in answers: RFC 3339, the year 1 for never. */
export const Moment = (description: string) =>
  Type.String({ default: noInstant, format: 'date-time', description });

export const Flag = (absent = false) => Type.Boolean({ default: absent });

/** The schema or null; null is also the default. */
export const Nullable = <S extends Type.TSchema>(schema: S) =>
  Type.Union([schema, Type.Null()], { default: null });

/** A list; an empty list is stored as null, so that `[]` never counts as a change. */
export const List = <S extends Type.TSchema>(item: S) => Nullable(Type.Array(item));

/** A list that is never null. */
export const FullList = <S extends Type.TSchema>(item: S) => Type.Array(item, { default: [] });

/** Values by callers' names; an empty map is stored as null. */
export const MapOf = <S extends Type.TSchema>(value: S) =>
  Nullable(Type.Record(Type.String(), value));

/** Values by name; never null. */
export const FullMapOf = <S extends Type.TSchema>(value: S) =>
  Type.Record(Type.String(), value, { default: {} });

/** Texts by name. */
export const TextMap = () => MapOf(Type.String());

/** Texts by name, which may be written as numbers and booleans, as in HCL. */
export const WrittenTextMap = () => MapOf(Type.String({ 'x-written': true }));

/** Secret texts by name: no fault repeats them. */
export const SecretTextMap = () => MapOf(Type.String({ 'x-secret': true }));

/** Any value, which is kept as it is. */
export const Anything = () => Type.Unsafe<unknown>({ 'x-free': true, default: null });

/** Any values by name, which are kept as they are. */
export const FreeMap = () => MapOf(Anything());

interface Told {
  /** The default, as the end of "the default is …", if `default` does not tell it. */
  readonly absent?: string;
  /** Rules for a value beyond its schema, as a clause: "at least `MemoryMB`". */
  readonly rules?: string;
}

/** The schema with its description, for readers of the OpenAPI document and of the references. */
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

/** Marks a field that only the server sets. */
export const ResponseOnly = <S extends Type.TSchema>(schema: S): S =>
  Type.Unsafe({ ...schema, 'x-response-only': true }) as unknown as S;

/** Marks a field that the server stores and never presents. */
export const Hidden = <S extends Type.TSchema>(schema: S): S =>
  Type.Unsafe({ ...schema, 'x-hidden': true }) as unknown as S;

/** The fields of every stored record (`state/types.ts`). */
export const stamps = {
  CreateIndex: About('Index of the write that created the record.', ResponseOnly(Whole())),
  ModifyIndex: About('Index of the last change of the record.', ResponseOnly(Whole())),
};

export { Type };
