import { exponentText, plainText } from '../functions/number-text.ts';
import { isList, isNumber, keysInOrder, type TemplateMap, type TemplateValue } from './value.ts';

/** The output of an action with this value. */
export const outputOf = (value: TemplateValue): string =>
  value === null ? '<no value>' : formatted(value);

/** A value as `print` and `printf "%v"` write it. */
export function formatted(value: TemplateValue): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return floatText(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(formatted).join(' ')}]`;
  const map = value as TemplateMap;
  const members = keysInOrder(map).map((key) => `${key}:${formatted(map.get(key)!)}`);
  return `map[${members.join(' ')}]`;
}

/** The greatest length of the written value, without writing it. */
export function sizeOf(value: TemplateValue): number {
  if (value === null || typeof value === 'boolean') return 8;
  if (typeof value === 'string') return value.length + 8;
  if (isNumber(value)) return 24;
  let size = 8;
  if (isList(value)) for (const item of value) size += sizeOf(item) + 1;
  else for (const [key, item] of value as TemplateMap) size += key.length + 2 + sizeOf(item);
  return size;
}

/** The shortest digits; with an exponent from a million on, and below a ten-thousandth. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const text = value.toExponential();
  const exponent = Number(text.split('e')[1]);
  return exponent >= -4 && exponent < 6 ? plainText(value) : exponentText(text);
}
