import type { Budget } from './budget.ts';
import { convert } from './convert.ts';
import {
  anyType,
  boolType,
  type HclType,
  numberType,
  type ObjectType,
  stringType,
  type TupleType,
} from './types.ts';
import { isList, keysOf, type Value, ValueSet } from './value.ts';

/** The type of a value; `any` for null, which has every type. */
export function typeOf(value: Value, budget: Budget): HclType {
  // Making a type for comparisons is the work of several steps.
  budget.work(4);
  if (value === null) return anyType;
  if (typeof value === 'boolean') return boolType;
  if (typeof value === 'number') return numberType;
  if (typeof value === 'string') return stringType;
  if (isList(value)) return { kind: 'tuple', items: value.map((item) => typeOf(item, budget)) };
  if (value instanceof ValueSet)
    return { kind: 'set', of: unifyAll(value.items.map((item) => typeOf(item, budget))) };
  const attributes = keysOf(value).map(
    (key) => [key, { type: typeOf(value[key]!, budget), optional: false }] as const,
  );
  return { kind: 'object', attributes: new Map(attributes) };
}

/**
 * The common type of two types, to which values of both can be converted: of a string and a number, string;
 * of lists of different lengths, a list; of objects with different attributes, a map. `undefined` if there
 * is none. Within lists and objects this is no fault: elements without a common type stay as they are.
 */
export function unify(left: HclType, right: HclType): HclType | undefined {
  if (left.kind === 'any') return right;
  if (right.kind === 'any') return left;
  if (left.kind === right.kind) {
    switch (left.kind) {
      case 'string':
      case 'number':
      case 'bool':
        return left;
      case 'tuple':
        return unifyTuples(left, right as typeof left);
      case 'object':
        return unifyObjects(left, right as typeof left);
      default:
        return { kind: left.kind, of: unify(elementType(left), elementType(right)) ?? anyType };
    }
  }
  const kinds = [left.kind, right.kind];
  if (isPrimitive(left) && isPrimitive(right))
    return kinds.includes('string') ? stringType : undefined;
  const kind = kinds.every(isOneOf('object', 'map'))
    ? 'map'
    : kinds.every(isOneOf('list', 'tuple'))
      ? 'list'
      : kinds.every(isOneOf('set', 'list', 'tuple'))
        ? 'set'
        : undefined;
  return kind && { kind, of: unify(elementType(left), elementType(right)) ?? anyType };
}

const isPrimitive = ({ kind }: HclType): boolean => isOneOf('string', 'number', 'bool')(kind);

const isOneOf =
  (...kinds: readonly HclType['kind'][]) =>
  (kind: HclType['kind']): boolean =>
    kinds.includes(kind);

function unifyTuples(left: TupleType, right: TupleType): HclType {
  if (left.items.length !== right.items.length) {
    return { kind: 'list', of: unifyAll([...left.items, ...right.items]) };
  }
  const items = left.items.map((item, index) => unify(item, right.items[index]!) ?? anyType);
  return { kind: 'tuple', items };
}

function unifyObjects(left: ObjectType, right: ObjectType): HclType {
  const same =
    left.attributes.size === right.attributes.size &&
    [...left.attributes.keys()].every((name) => right.attributes.has(name));
  if (!same) {
    const types = [...left.attributes.values(), ...right.attributes.values()];
    return { kind: 'map', of: unifyAll(types.map(({ type }) => type)) };
  }
  const attributes = [...left.attributes].map(([name, { type }]) => {
    const other = right.attributes.get(name)!.type;
    return [name, { type: unify(type, other) ?? anyType, optional: false }] as const;
  });
  return { kind: 'object', attributes: new Map(attributes) };
}

/** The common type of all elements; `any` if there is none. */
function elementType(type: HclType): HclType {
  switch (type.kind) {
    case 'list':
    case 'set':
    case 'map':
      return type.of;
    case 'tuple':
      return unifyAll(type.items);
    case 'object':
      return unifyAll([...type.attributes.values()].map(({ type: of }) => of));
    default:
      return type;
  }
}

export const unifyAll = (types: readonly HclType[]): HclType => commonType(types) ?? anyType;

/** The common type of all types; `undefined` if there is none. */
export function commonType(types: readonly HclType[]): HclType | undefined {
  let common: HclType | undefined = anyType;
  for (const type of types) {
    common = unify(common, type);
    if (common === undefined) return undefined;
  }
  return common;
}

/** The elements, converted to their common type. Without a common type they stay as they are. */
export function unified(items: readonly Value[], budget: Budget): readonly Value[] {
  const type = unifyAll(items.map((item) => typeOf(item, budget)));
  return type.kind === 'any' ? items : items.map((item) => convert(item, type, budget));
}
