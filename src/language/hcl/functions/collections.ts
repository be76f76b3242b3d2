import { FunctionFault } from '../../functions/fault.ts';
import type { Budget } from '../budget.ts';
import { calculate, inexact } from '../decimal.ts';
import { functionLimits } from '../limits.ts';
import { unified } from '../unify.ts';
import {
  compareText,
  identityOf,
  isObject,
  itemsOf,
  keysOf,
  memberOf,
  objectOf,
  type Value,
  type ValueObject,
} from '../value.ts';
import {
  any,
  define,
  type Functions,
  list,
  map,
  number,
  optional,
  text,
  texts,
  variadic,
  whole,
} from './define.ts';
import { lengthOf } from './graphemes.ts';

const cheap = { isCheap: true };

export const collectionFunctions: Functions = {
  chunklist: define([list('list'), whole('size')], ([items, size], budget) => {
    if (size < 0) throw new FunctionFault('the size of a piece is not negative', 1);
    if (size === 0) return items.length === 0 ? [] : [items];
    const pieces: Value[] = [];
    for (let at = 0; at < items.length; at += size) {
      pieces.push(budget.made(items.slice(at, at + size)));
    }
    return budget.made(pieces);
  }),
  coalesce: variadic([], any('values'), (_, values, budget) => {
    const index = values.findIndex((value) => value !== null && value !== '');
    if (index < 0) throw new FunctionFault('all arguments are null or empty strings');
    return unified(values, budget)[index]!;
  }),
  coalescelist: variadic([], any('lists'), (_, lists) => {
    const found = lists.find((one) => (itemsOf(one) ?? []).length > 0);
    if (found === undefined) throw new FunctionFault('all arguments are empty');
    return found;
  }),
  compact: define([list('list')], ([items], budget) =>
    budget.made(
      texts('list').read(
        items.filter((item) => item !== null && item !== ''),
        budget,
      ),
    ),
  ),
  concat: variadic([], list('lists'), (_, lists, budget) => {
    budget.make(lists.reduce((total, one) => total + one.length, 0));
    return budget.made(lists.flat(1));
  }),
  contains: define([list('list'), any('value')], ([items, value]) => indexIn(items, value) >= 0),
  distinct: define([list('list')], ([items], budget) => {
    const seen = new Map<string, Value>();
    for (const item of items) {
      const identity = identityOf(item);
      if (!seen.has(identity)) seen.set(identity, item);
    }
    return budget.made([...seen.values()]);
  }),
  element: define(
    [list('list'), whole('index')],
    ([items, index]) => {
      const { length } = items;
      if (length === 0) throw new FunctionFault('an empty list has no elements', 0);
      return items[((index % length) + length) % length]!;
    },
    cheap,
  ),
  flatten: define([list('list')], ([items], budget) => {
    const flat: Value[] = [];
    flattenInto(flat, items, budget);
    return budget.made(flat);
  }),
  index: define([list('list'), any('value')], ([items, value]) => {
    const index = indexIn(items, value);
    if (index < 0) throw new FunctionFault('the list does not have this value', 1);
    return index;
  }),
  keys: define([map('map')], ([object], budget) => budget.made(keysOf(object))),
  length: define([any('value')], ([value], budget) => sizeOf(value, budget), cheap),
  lookup: define(
    [map('map'), text('key'), optional(any('default'))],
    ([object, key, otherwise]) => {
      const found = memberOf(object, key);
      if (found !== undefined) return found;
      if (otherwise !== undefined) return otherwise;
      const quoted = JSON.stringify(key.slice(0, 64).toWellFormed());
      throw new FunctionFault(`there is no key ${quoted}, and no default is given`, 1);
    },
    cheap,
  ),
  merge: variadic([], any('maps'), (_, maps, budget) => {
    const members: [string, Value][] = [];
    maps.forEach((one, index) => {
      if (one === null) return;
      if (!isObject(one)) throw new FunctionFault('only maps and objects can be merged', index);
      for (const member of Object.entries(one)) members.push(member);
    });
    return budget.made(objectOf(members));
  }),
  range: define(
    [number('start'), optional(number('limit')), optional(number('step'))],
    ([first, limit, step], budget) =>
      limit === undefined ? range(0, first, undefined, budget) : range(first, limit, step, budget),
  ),
  reverse: define([list('list')], ([items], budget) => budget.made(items.toReversed())),
  slice: define(
    [list('list'), whole('start'), whole('end')],
    ([items, start, end], budget) => {
      if (start < 0 || start > items.length) {
        throw new FunctionFault(`the start is from 0 to ${items.length}, not ${start}`, 1);
      }
      if (end < start || end > items.length) {
        throw new FunctionFault(`the end is from ${start} to ${items.length}, not ${end}`, 2);
      }
      return budget.made(items.slice(start, end));
    },
    cheap,
  ),
  sort: define([texts('list')], ([items], budget) => budget.made(items.toSorted(compareText))),
  values: define([map('map')], ([object], budget) =>
    budget.made(keysOf(object).map((key) => object[key]!)),
  ),
  zipmap: define([texts('keys'), list('values')], ([keys, values], budget): ValueObject => {
    if (keys.length !== values.length) {
      const sentence = `there are ${keys.length} keys and ${values.length} values`;
      throw new FunctionFault(sentence, 1);
    }
    return budget.made(objectOf(keys.map((key, index) => [key, values[index]!])));
  }),
};

function indexIn(items: readonly Value[], value: Value): number {
  if (value === null || typeof value !== 'object') return items.indexOf(value);
  const wanted = identityOf(value);
  return items.findIndex((item) => identityOf(item) === wanted);
}

function sizeOf(value: Value, budget: Budget): number {
  if (typeof value === 'string') return lengthOf(value, budget);
  const items = itemsOf(value);
  if (items !== undefined) return items.length;
  if (isObject(value)) return Object.keys(value).length;
  throw new FunctionFault('only strings, lists, sets, maps and objects have a length', 0);
}

function flattenInto(flat: Value[], items: readonly Value[], budget: Budget): void {
  for (const item of items) {
    budget.work(1);
    const inner = itemsOf(item);
    if (inner === undefined) flat.push(item);
    else flattenInto(flat, inner, budget);
  }
}

function range(
  start: number,
  limit: number,
  given: number | undefined,
  budget: Budget,
): readonly number[] {
  const step = given ?? (limit < start ? -1 : 1);
  if (step === 0) throw new FunctionFault('the step is not 0', 2);
  if (limit > start !== step > 0 && limit !== start) {
    throw new FunctionFault(`steps of ${step} do not lead from ${start} to ${limit}`, 2);
  }
  const numbers: number[] = [];
  let at = start;
  while (step > 0 ? at < limit : at > limit) {
    if (numbers.length >= functionLimits.rangeMax) {
      throw new FunctionFault(`the list would have more than ${functionLimits.rangeMax} numbers`);
    }
    numbers.push(at);
    const next = calculate(at, '+', step);
    if (typeof next !== 'number') throw new FunctionFault(`a number ${inexact[next]}`);
    at = next;
  }
  return budget.made(numbers);
}
