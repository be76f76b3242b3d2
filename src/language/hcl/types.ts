import { shownTypeLengthMax } from './limits.ts';
import type { Value } from './value.ts';

/** The type of a value, for `variable "x" { type = … }` and for conversions. */
export type HclType =
  | { readonly kind: 'any' | 'string' | 'number' | 'bool' }
  | ListType
  | SetType
  | MapType
  | TupleType
  | ObjectType;

export interface ListType {
  readonly kind: 'list';
  readonly of: HclType;
}

export interface SetType {
  readonly kind: 'set';
  readonly of: HclType;
}

export interface MapType {
  readonly kind: 'map';
  readonly of: HclType;
}

export interface TupleType {
  readonly kind: 'tuple';
  readonly items: readonly HclType[];
}

export interface ObjectType {
  readonly kind: 'object';
  readonly attributes: ReadonlyMap<string, HclAttributeType>;
}

export interface HclAttributeType {
  readonly type: HclType;
  readonly optional: boolean;
  /** A value of the attribute's type; only with `optional`. */
  readonly default?: Value;
}

export const anyType: HclType = { kind: 'any' };
export const stringType: HclType = { kind: 'string' };
export const numberType: HclType = { kind: 'number' };
export const boolType: HclType = { kind: 'bool' };

/** The type as it is written, `list(object({name = string}))`, shortened to fit into a message. */
export function typeText(type: HclType): string {
  const text = written(type);
  return text.length <= shownTypeLengthMax ? text : `${text.slice(0, shownTypeLengthMax)}…`;
}

function written(type: HclType): string {
  switch (type.kind) {
    case 'list':
    case 'set':
    case 'map':
      return `${type.kind}(${written(type.of)})`;
    case 'tuple':
      return `tuple([${type.items.map(written).join(', ')}])`;
    case 'object': {
      const attributes = [...type.attributes].map(([name, { type: of, optional }]) =>
        optional ? `${name} = optional(${written(of)})` : `${name} = ${written(of)}`,
      );
      return `object({${attributes.join(', ')}})`;
    }
    default:
      return type.kind;
  }
}
