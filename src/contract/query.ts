/**
 * Query parameters as an endpoint declares them. One table gives their parser, the OpenAPI document
 * and the type the handler sees. Both spellings of a key are read (`IdempotencyToken`,
 * `idempotency_token`: docs/contract/http.md#query-parameters).
 */
export type QueryKind = 'string' | 'boolean' | 'integer' | 'index' | 'duration' | 'strings';

export interface QueryParameter {
  readonly kind: QueryKind;
  readonly description: string;
  /** What an absent parameter means; it decides the type, too. */
  readonly default?: string | boolean | number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of text. Default: `limits.names.lengthMax`. */
  readonly lengthMax?: number;
  readonly required?: true;
  /** `name=` is the same as not to give it. */
  readonly emptyIsAbsent?: true;
}

export type QueryTable = Readonly<Record<string, QueryParameter>>;

interface KindTypes {
  string: string;
  boolean: boolean;
  integer: number;
  /** Of 64 bits. A number that no index of the state reaches counts as the greatest number. */
  index: number;
  /** Nanoseconds. */
  duration: number;
  strings: readonly string[];
}

/** A value of the parameter, as it is read. */
export type QueryValue<P> = P extends { readonly kind: infer K extends QueryKind }
  ? KindTypes[K]
  : never;

export type QueryValues<T extends QueryTable> = {
  readonly [K in keyof T]: T[K] extends { default: unknown } | { required: true }
    ? KindTypes[T[K]['kind']]
    : T[K]['kind'] extends 'strings'
      ? readonly string[]
      : KindTypes[T[K]['kind']] | undefined;
};

/** Narrows a list down. */
export const idPrefix = {
  prefix: { kind: 'string', default: '', description: 'The beginning of the id.' },
} as const satisfies QueryTable;

export const namePrefix = {
  prefix: { kind: 'string', default: '', description: 'The beginning of the name.' },
} as const satisfies QueryTable;
