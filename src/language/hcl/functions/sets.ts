import { FunctionFault } from '../../functions/fault.ts';
import type { Budget } from '../budget.ts';
import { unified } from '../unify.ts';
import { identityOf, itemsOf, type Value, ValueSet } from '../value.ts';
import { any, define, type Functions, list, variadic } from './define.ts';

export const setFunctions: Functions = {
  setintersection: variadic([list('set')], list('sets'), ([first], more, budget) =>
    combined([first, ...more], budget, (one, other) => one.filter(isIn(other))),
  ),
  setsubtract: define([list('set'), list('other')], ([first, other], budget) =>
    combined([first, other], budget, (one, two) => {
      const isOther = isIn(two);
      return one.filter((item) => !isOther(item));
    }),
  ),
  setunion: variadic([list('set')], list('sets'), ([first], more, budget) =>
    combined([first, ...more], budget, (one, other) => [...one, ...other]),
  ),
  setproduct: variadic([any('set')], any('sets'), ([first], more, budget) =>
    product([first, ...more], budget),
  ),
};

/** Converts the elements of all sets to their common type first: `1` and `"1"` are equal as strings. */
function combined(
  lists: readonly (readonly Value[])[],
  budget: Budget,
  combine: (one: readonly Value[], other: readonly Value[]) => readonly Value[],
): ValueSet {
  const all = unified(lists.flat(1), budget);
  let at = 0;
  const [first, ...others] = lists.map(({ length }): readonly Value[] => {
    at += length;
    return all.slice(at - length, at);
  });
  return budget.made(ValueSet.of(others.reduce(combine, first!)));
}

function isIn(items: readonly Value[]): (item: Value) => boolean {
  const identities = new Set(items.map(identityOf));
  return (item) => identities.has(identityOf(item));
}

/** The Cartesian product: lists with an element of each argument. A set if all arguments are sets. */
function product(given: readonly Value[], budget: Budget): Value {
  const lists = given.map((one, index) => {
    const items = itemsOf(one);
    if (items === undefined) throw new FunctionFault('every argument is a list or set', index);
    return unified(items, budget);
  });
  const count = lists.reduce((total, { length }) => total * length, 1);
  // Counted before the lists are made.
  budget.make(count * lists.length * 8);
  budget.work(count * lists.length);
  let rows: readonly (readonly Value[])[] = [[]];
  for (const items of lists) rows = rows.flatMap((row) => items.map((item) => [...row, item]));
  const isSet = given.every((one) => one instanceof ValueSet);
  return budget.made(isSet ? ValueSet.of(rows) : rows);
}
