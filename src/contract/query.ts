/**
 * The query parameters of an endpoint. The parser, the OpenAPI document and the types of handlers
 * come from this table. Parameters may be spelled `IdempotencyToken` or `idempotency_token`
 * (docs/contract/http.md#query-parameters).
 */
export type QueryKind = 'string' | 'boolean' | 'integer' | 'index' | 'duration' | 'strings';

export interface QueryParameter {
  readonly kind: QueryKind;
  readonly description: string;
  /** The value of an absent parameter. With a default, the value is never `undefined`. */
  readonly default?: string | boolean | number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of texts; by default `limits.names.lengthMax`. */
  readonly lengthMax?: number;
  readonly required?: true;
  /** `name=` counts as absent. */
  readonly emptyIsAbsent?: true;
}

export type QueryTable = Readonly<Record<string, QueryParameter>>;

interface KindTypes {
  string: string;
  boolean: boolean;
  integer: number;
  /** An integer of 64 bits. Values above the greatest safe integer are reduced to it. */
  index: number;
  /** In nanoseconds. */
  duration: number;
  strings: readonly string[];
}

/** A parsed value of the parameter. */
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

/** An optional text. */
export const text = (description: string, bounds: Pick<QueryParameter, 'lengthMax'> = {}) =>
  ({ kind: 'string', default: '', description, ...bounds }) as const;

export const flag = (description: string) =>
  ({ kind: 'boolean', default: false, description }) as const;

export const idPrefix = { prefix: text('The beginning of the id.') } as const satisfies QueryTable;

export const namePrefix = {
  prefix: text('The beginning of the name.'),
} as const satisfies QueryTable;

/** A guard. `record` names the guarded record in the description. */
export const guard = (record: string, absent = 'only if there is none') =>
  ({
    cas: {
      kind: 'integer',
      description: `Only if the ${record} has this ModifyIndex; 0: ${absent}.`,
    },
  }) as const;
