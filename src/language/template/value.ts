/**
 * A value while a template is rendered. As in the templates' format, whole numbers have 64 bits and other
 * numbers are doubles. `null` is a missing value.
 */
export type TemplateValue =
  | string
  | bigint
  | number
  | boolean
  | null
  | readonly TemplateValue[]
  | TemplateMap;

export type TemplateMap = ReadonlyMap<string, TemplateValue>;

/** A map with fixed keys: any other key is an error, not a missing value. */
export class TemplateRecord extends Map<string, TemplateValue> {}

export const record = (fields: Readonly<Record<string, TemplateValue>>): TemplateRecord =>
  new TemplateRecord(Object.entries(fields));

export const isList = (value: TemplateValue): value is readonly TemplateValue[] =>
  Array.isArray(value);

export const isMap = (value: TemplateValue): value is TemplateMap => value instanceof Map;

export const isNumber = (value: TemplateValue): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';

/** Whether the value is true for `if`: any value but false, zero, null, and an empty value. */
export function isTrue(value: TemplateValue): boolean {
  if (value === null) return false;
  if (typeof value === 'object') return isList(value) ? value.length > 0 : value.size > 0;
  if (typeof value === 'number') return value !== 0;
  return Boolean(value);
}

/** The kind of a value for messages, without its content, which may be secret. */
export function describeValue(value: TemplateValue): string {
  if (value === null) return 'nothing';
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'bigint':
      return 'a whole number';
    case 'number':
      return 'a number with a fraction';
    case 'boolean':
      return 'a bool';
    default:
      return isList(value) ? 'a list' : 'a map';
  }
}

const wholeMin = -(2n ** 63n);
const wholeMax = 2n ** 63n - 1n;

export const fitsWhole = (value: bigint): boolean => value >= wholeMin && value <= wholeMax;

/** Compares keys or texts by their bytes. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  if (at === length) return left.length - right.length;
  return rankOf(left.charCodeAt(at)) - rankOf(right.charCodeAt(at));
}

/** A surrogate belongs to a character above all characters without surrogates. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

export const keysInOrder = (map: TemplateMap): readonly string[] =>
  [...map.keys()].sort(compareText);

/** The value of parsed JSON or YAML. Whole numbers get 64 bits. */
export function valueOfData(data: unknown): TemplateValue {
  if (data === null || data === undefined) return null;
  switch (typeof data) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return data;
    case 'number':
      return Number.isInteger(data) ? BigInt(data) : data;
  }
  if (Array.isArray(data)) return data.map(valueOfData);
  return new Map(Object.entries(data).map(([key, member]) => [key, valueOfData(member)]));
}

/** Compares numbers of both kinds by value. */
export const isSameNumber = (left: bigint | number, right: bigint | number): boolean =>
  left <= right && left >= right;
