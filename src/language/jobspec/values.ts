import { parseDuration } from '../../base/duration.ts';
import { boolOf, ConversionFault, numberOf, textOf } from '../hcl/convert.ts';
import { describeValue, isObject, itemsOf, plainOf, type Value } from '../hcl/value.ts';
import type { MapForm, ScalarKind } from './form.ts';

/**
 * Converts a value to a field of the job.
 * @throws ConversionFault
 */
export function fieldValue(kind: ScalarKind | MapForm['kind'], value: Value): unknown {
  return readers[kind](value, '');
}

type Read = (value: Value, path: string) => unknown;

const readers: Readonly<Record<ScalarKind | MapForm['kind'], Read>> = {
  text: textOf,
  flag: boolOf,
  whole: wholeOf,
  duration: durationOf,
  texts: (value, path) => listOf(value, textOf, 'strings', path),
  'text-map': (value, path) => mapOf(value, textOf, path),
  'texts-map': (value, path) =>
    mapOf(value, (inner, at) => listOf(inner, textOf, 'strings', at), path),
  'free-map': (value, path) => {
    if (isObject(value)) return plainOf(value);
    throw unfit(value, 'an object', path);
  },
};

function wholeOf(value: Value, path: string): number {
  const number = numberOf(value, path);
  if (Number.isSafeInteger(number)) return number || 0;
  throw new ConversionFault(`has to be an integer, and is ${number}`, path);
}

function durationOf(value: Value, path: string): number {
  if (typeof value === 'number') return wholeOf(value, path);
  if (typeof value !== 'string') throw unfit(value, 'a duration such as "30s"', path);
  const nanoseconds = parseDuration(value);
  if (nanoseconds !== undefined) return nanoseconds || 0;
  const shown = JSON.stringify(value.slice(0, 40).toWellFormed());
  throw new ConversionFault(`has to be a duration such as "30s" or "1h30m", and is ${shown}`, path);
}

function listOf(value: Value, read: Read, what: string, path: string): readonly unknown[] {
  const items = itemsOf(value);
  if (items === undefined) throw unfit(value, `a list of ${what}`, path);
  return items.map((item, index) => read(item, `${path}[${index}]`));
}

/** Null counts as absent. */
function mapOf(value: Value, read: Read, path: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw unfit(value, 'an object', path);
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    entries.map(([key, member]) => [key, read(member, `${path}[${JSON.stringify(key)}]`)]),
  );
}

const unfit = (value: Value, what: string, path: string): ConversionFault =>
  new ConversionFault(`has to be ${what}, and is ${describeValue(value)}`, path);
