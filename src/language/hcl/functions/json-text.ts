import { plainText } from '../../functions/number-text.ts';
import type { Budget } from '../budget.ts';
import { itemsOf, keysOf, type Value, type ValueObject } from '../value.ts';

/**
 * A value as JSON, by the published description of `jsonencode`: with sorted keys, numbers without
 * exponents, and escapes for the characters that have a meaning in HTML.
 */
export function jsonText(value: Value, budget: Budget): string {
  budget.read(value);
  const text = write(value);
  budget.make(text.length);
  return text;
}

function write(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return quotedText(value);
  if (typeof value === 'number') return plainText(value);
  if (typeof value === 'boolean') return String(value);
  const items = itemsOf(value);
  if (items !== undefined) return `[${items.map(write).join(',')}]`;
  const object = value as ValueObject;
  return `{${keysOf(object)
    .map((key) => `${quotedText(key)}:${write(object[key]!)}`)
    .join(',')}}`;
}

const escaped = /[<>&\u2028\u2029]/g;

export const quotedText = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replace(
    escaped,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
