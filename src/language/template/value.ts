/**
 * A value while a template is rendered. Whole numbers are 64 bits wide and other numbers doubles,
 * as the templates' format has them; `null` is what is not there.
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

/** A map whose keys are always the same: to ask for another one is an error, not an absence. */
export class TemplateRecord extends Map<string, TemplateValue> {}

export const record = (fields: Readonly<Record<string, TemplateValue>>): TemplateRecord =>
  new TemplateRecord(Object.entries(fields));

export const isList = (value: TemplateValue): value is readonly TemplateValue[] =>
  Array.isArray(value);

export const isMap = (value: TemplateValue): value is TemplateMap => value instanceof Map;

export const isNumber = (value: TemplateValue): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';

/** Whether `if` takes it for true: anything but false, zero, nothing, and what is empty. */
export function isTrue(value: TemplateValue): boolean {
  if (value === null) return false;
  if (typeof value === 'object') return isList(value) ? value.length > 0 : value.size > 0;
  if (typeof value === 'number') return value !== 0;
  return Boolean(value);
}

/** How a sentence names it, without what is in it: it may be secret. */
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

/** By their bytes, as keys and texts are ordered. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  if (at === length) return left.length - right.length;
  return rankOf(left.charCodeAt(at)) - rankOf(right.charCodeAt(at));
}

/** A half of a pair stands for a character that is greater than all that need none. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

export const keysInOrder = (map: TemplateMap): readonly string[] =>
  [...map.keys()].sort(compareText);

/** The value of parsed JSON or YAML. Whole numbers become 64 bits wide. */
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

/** By what they are worth, of whichever kind they are. */
export const isSameNumber = (left: bigint | number, right: bigint | number): boolean =>
  left <= right && left >= right;
