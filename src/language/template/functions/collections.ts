import { FunctionFault } from '../../functions/fault.ts';
import type { RunContext } from '../run-context.ts';
import {
  compareText,
  describeValue,
  isList,
  isMap,
  isNumber,
  isSameNumber,
  type TemplateMap,
  type TemplateValue,
} from '../value.ts';
import { any, define, type Functions, list, map, type Parameter, rest, whole } from './define.ts';

export const collectionFunctions: Functions = {
  len: define([any('value')], ([value]) => {
    if (typeof value === 'string') return BigInt(Buffer.byteLength(value));
    if (isList(value)) return BigInt(value.length);
    if (isMap(value)) return BigInt(value.size);
    throw new FunctionFault(`${describeValue(value)} has no length`, 0);
  }),
  index: define([any('value'), rest(any('keys'))], ([value, keys], context) =>
    keys.reduce((inner, key, at) => itemAt(inner, key, at + 1, context), value),
  ),
  slice: define([any('value'), rest(whole('bounds'))], ([value, bounds], context) =>
    sliced(value, bounds, context),
  ),
  in: define([any('collection'), any('value')], ([collection, value], context) =>
    isIn(collection, value, 0, context),
  ),
  contains: define([any('value'), any('collection')], ([value, collection], context) =>
    isIn(collection, value, 1, context),
  ),
  containsAll: needles((wanted, has) => wanted.every(has)),
  containsAny: needles((wanted, has) => wanted.some(has)),
  containsNone: needles((wanted, has) => !wanted.some(has)),
  containsNotAll: needles((wanted, has) => !wanted.every(has)),
  explode: define([map('map')], ([value], context) => exploded(value, context)),
};

function needles(
  decide: (wanted: readonly TemplateValue[], has: (value: TemplateValue) => boolean) => boolean,
) {
  return define([list('values'), any('collection')], ([values, collection], context) =>
    decide(values, (value) => isIn(collection, value, 1, context)),
  );
}

const key: Parameter<string> = {
  name: 'key',
  read: (value) => {
    if (typeof value === 'string') return value;
    throw new FunctionFault(`a map is asked by text, not by ${describeValue(value)}`);
  },
};

function itemAt(
  value: TemplateValue,
  at: TemplateValue,
  argument: number,
  { budget }: RunContext,
): TemplateValue {
  budget.work(1);
  if (isMap(value)) {
    try {
      return value.get(key.read(at)) ?? null;
    } catch (error) {
      throw new FunctionFault((error as Error).message, argument);
    }
  }
  const isText = typeof value === 'string';
  if (!isText && !isList(value)) {
    throw new FunctionFault(`${describeValue(value)} has no items`, argument - 1);
  }
  if (typeof at !== 'bigint') {
    throw new FunctionFault(`an index is a whole number, not ${describeValue(at)}`, argument);
  }
  if (isText) budget.work(value.length >> 6);
  const items = isText ? Buffer.from(value) : value;
  const item = at < 0n || at >= BigInt(items.length) ? undefined : items[Number(at)];
  if (item === undefined) throw new FunctionFault(`there is no item ${at}`, argument);
  return typeof item === 'number' && isText ? BigInt(item) : (item as TemplateValue);
}

function sliced(
  value: TemplateValue,
  bounds: readonly bigint[],
  { budget }: RunContext,
): TemplateValue {
  if (bounds.length > 2) throw new FunctionFault('it takes a start and an end', 3);
  if (typeof value !== 'string' && !isList(value)) {
    throw new FunctionFault(`${describeValue(value)} has no items`, 0);
  }
  const items = typeof value === 'string' ? Buffer.from(value) : value;
  const length = BigInt(items.length);
  const [start = 0n, end = length] = bounds;
  if (start < 0n || end > length || start > end) {
    throw new FunctionFault(`there is nothing from ${start} to ${end}`, bounds.length);
  }
  budget.make(items.length);
  const part = items.slice(Number(start), Number(end));
  if (!(part instanceof Uint8Array)) return part;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(part);
  } catch {
    throw new FunctionFault('a character would be cut in two: texts are counted in bytes');
  }
}

/** Whether a list holds the value, a text contains it, or a map has it as a key. */
function isIn(
  collection: TemplateValue,
  value: TemplateValue,
  argument: number,
  { budget }: RunContext,
): boolean {
  if (collection === null) return false;
  if (isList(collection)) {
    budget.work(collection.length);
    const same = (item: TemplateValue): boolean =>
      isNumber(item) && isNumber(value) ? isSameNumber(item, value) : item === value;
    return collection.some(same);
  }
  if (isMap(collection)) return typeof value === 'string' && collection.has(value);
  if (typeof collection === 'string' && typeof value === 'string') {
    budget.work(collection.length >> 3);
    return collection.includes(value);
  }
  throw new FunctionFault(`there is nothing in ${describeValue(collection)}`, argument);
}

type Tree = Map<string, TemplateValue>;

/** `a/b` becomes the key `b` of the map at `a`. */
function exploded(value: TemplateMap, { budget }: RunContext): TemplateMap {
  const root: Tree = new Map();
  const keys = [...value.keys()].sort(compareText);
  for (const path of keys) {
    const parts = path.split('/').filter((part) => part !== '');
    budget.make(path.length + parts.length * 16);
    if (parts.length > budget.limits.nestingMax) {
      throw new FunctionFault(`a key has more than ${budget.limits.nestingMax} parts`, 0);
    }
    const name = parts.pop();
    if (name === undefined) continue;
    let at = root;
    for (const part of parts) {
      const next = at.get(part);
      if (next !== undefined && !isMap(next)) {
        throw new FunctionFault('a key is the beginning of another one, and has a value itself', 0);
      }
      const inner = (next as Tree | undefined) ?? new Map();
      at.set(part, inner);
      at = inner;
    }
    at.set(name, value.get(path)!);
  }
  return root;
}
