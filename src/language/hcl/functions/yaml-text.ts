import { plainText } from '../../functions/number-text.ts';
import type { Budget } from '../budget.ts';
import { isList, itemsOf, keysOf, type Value, type ValueObject } from '../value.ts';

/** A value as YAML in block style. Strings and keys have quotes, so that they are not read as other types. */
export function yamlText(value: Value, budget: Budget): string {
  budget.read(value);
  // Each line is indented by its depth.
  budget.make(budget.weightOf(value));
  const text = `${lines(value).join('\n')}\n`;
  budget.make(text.length);
  return text;
}

function lines(value: Value): readonly string[] {
  const items = value === null || typeof value !== 'object' ? undefined : itemsOf(value);
  if (items !== undefined && items.length > 0) {
    return items.flatMap((item) => {
      const [first, ...others] = lines(item);
      return [`- ${first}`, ...others.map((line) => `  ${line}`)];
    });
  }
  if (isMapping(value)) return keysOf(value).flatMap((key) => member(key, value[key]!));
  return [scalar(value)];
}

function member(key: string, value: Value): readonly string[] {
  const name = JSON.stringify(key.toWellFormed());
  if (isMapping(value)) return [`${name}:`, ...lines(value).map((line) => `  ${line}`)];
  const isSequence = value !== null && typeof value === 'object' && !isEmpty(value);
  if (isSequence) return [`${name}:`, ...lines(value)];
  return [`${name}: ${scalar(value)}`];
}

const isEmpty = (value: Value): boolean => itemsOf(value)?.length === 0 || !isFilled(value);

const isFilled = (value: Value): boolean =>
  value !== null && typeof value === 'object' && (itemsOf(value) ?? Object.keys(value)).length > 0;

const isMapping = (value: Value): value is ValueObject =>
  isFilled(value) && itemsOf(value) === undefined;

function scalar(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return plainText(value);
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value === 'boolean') return String(value);
  return isList(value) || itemsOf(value) !== undefined ? '[]' : '{}';
}
