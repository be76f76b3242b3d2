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
  const { exponent } = shortest(value);
  if (value === 0 || (exponent >= -4 && exponent < 6)) {
    return plainText(value);
  }
  return exponentText(value.toExponential());
}

/** `1.5e+7` as `1.5e+07`. */
export const exponentText = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2');

/** A number of any size without an exponent. */
export function plainText(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  if (!text.includes('e')) return text;
  const { sign, digits, exponent } = shortest(value);
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.padEnd(exponent + 1, '0')}`;
}

function shortest(value: number) {
  const [mantissa = '', exponent] = value.toExponential().split('e');
  const sign = mantissa.startsWith('-') ? '-' : '';
  return { sign, digits: mantissa.replace(/[-.]/g, ''), exponent: Number(exponent) };
}
