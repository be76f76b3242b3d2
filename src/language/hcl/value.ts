import type { HclValue } from './constant.ts';

/**
 * The value of an expression: plain immutable data, and sets.
 *
 * 1. A number is a finite double. Whole numbers that a double cannot hold are refused (`decimal.ts`), never
 *    rounded silently.
 * 2. A list and a tuple have the same kind, and so have a map and an object. They differ by their elements,
 *    not by their origin.
 * 3. Objects have no prototype. Their keys have no order of their own. Loops use {@link keysOf}, which orders
 *    them by code points.
 * 4. There are no unknown values: a reference that only the machine of a task resolves is text
 *    (`HclScope`).
 */
export type Value = null | boolean | number | string | readonly Value[] | ValueSet | ValueObject;

export interface ValueObject {
  readonly [key: string]: Value;
}

/** A set: each value once, in the order of {@link compareValues}. Elements have no index. */
export class ValueSet {
  readonly items: readonly Value[];

  private constructor(items: readonly Value[]) {
    this.items = items;
  }

  static of(items: Iterable<Value>): ValueSet {
    const byIdentity = new Map<string, Value>();
    for (const item of items) byIdentity.set(identityOf(item), item);
    return new ValueSet([...byIdentity.values()].sort(compareValues));
  }
}

export type ValueKind = 'null' | 'bool' | 'number' | 'string' | 'list' | 'set' | 'object';

export function kindOf(value: Value): ValueKind {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'string') return 'string';
  if (isList(value)) return 'list';
  return value instanceof ValueSet ? 'set' : 'object';
}

/** `Array.isArray` for immutable arrays, which it does not narrow. */
export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

export const isObject = (value: Value): value is ValueObject => kindOf(value) === 'object';

/** The elements of a list or set. */
export function itemsOf(value: Value): readonly Value[] | undefined {
  if (value instanceof ValueSet) return value.items;
  return isList(value) ? value : undefined;
}

/** The kind of a value, for messages. */
export function describeValue(value: Value): string {
  const kind = kindOf(value);
  if (kind === 'null') return 'null';
  return kind === 'object' ? 'an object' : `a ${kind}`;
}

export function objectOf(entries: Iterable<readonly [key: string, value: Value]>): ValueObject {
  const object: Record<string, Value> = Object.create(null);
  for (const [key, value] of entries) object[key] = value;
  return object;
}

/** The keys in the order of their code points. */
export const keysOf = (object: ValueObject): readonly string[] =>
  Object.keys(object).sort(compareText);

/** The value of a key, never a property of a prototype. */
export const memberOf = (object: ValueObject, key: string): Value | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** Compares by code points, like the bytes of UTF-8. `<` compares UTF-16, where emoji come before U+FFFD. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const one = left.charCodeAt(at);
    const other = right.charCodeAt(at);
    if (one !== other) return fixedUp(one) - fixedUp(other);
  }
  return left.length - right.length;
}

/** A surrogate belongs to a character above all others. */
const fixedUp = (unit: number): number =>
  unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;

const kindOrder: Readonly<Record<ValueKind, number>> = {
  null: 0,
  bool: 1,
  number: 2,
  string: 3,
  list: 4,
  set: 5,
  object: 6,
};

/** The order of a set: false before true, numbers by size, strings by code points. */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const kinds = kindOrder[kindOf(left)] - kindOrder[kindOf(right)];
  return kinds === 0 ? compareText(identityOf(left), identityOf(right)) : kinds;
}

/** A text that is the same for two values exactly if they are equal. */
export function identityOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      // A negative zero is zero.
      return String(value || 0);
    case 'boolean':
      return String(value);
  }
  if (value === null) return 'null';
  if (value instanceof ValueSet) return `<${value.items.map(identityOf).join(',')}>`;
  if (isList(value)) return `[${value.map(identityOf).join(',')}]`;
  const entries = keysOf(value).map((key) => `${JSON.stringify(key)}:${identityOf(value[key]!)}`);
  return `{${entries.join(',')}}`;
}

/** The value for JSON: sets become lists. */
export function plainOf(value: Value): HclValue {
  if (value === null || typeof value !== 'object') return value;
  const items = itemsOf(value);
  if (items !== undefined) return items.map(plainOf);
  const object: Record<string, HclValue> = Object.create(null);
  for (const [key, member] of Object.entries(value)) object[key] = plainOf(member);
  return object;
}
