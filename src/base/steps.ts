/**
 * Long work in steps: a generator that yields where other work may run. Its caller decides how many steps
 * it takes at a time.
 */
export type Steps<T> = Generator<void, T, void>;

/** Runs all the steps in one go. */
export function drained<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Number of items of a long list in a step. */
const itemsPerStep = 100;

export function* each<T>(items: Iterable<T>, visit: (item: T) => void): Steps<void> {
  // A list needs no iterator, which would make an object for every item.
  if (Array.isArray(items)) {
    const list: readonly T[] = items;
    for (let at = 0; at < list.length; at++) {
      if (at > 0 && at % itemsPerStep === 0) yield;
      visit(list[at]!);
    }
    return;
  }
  let left = itemsPerStep;
  for (const item of items) {
    visit(item);
    if (--left > 0) continue;
    left = itemsPerStep;
    yield;
  }
}

/** Whether the items are a list that takes no more than a step: most lists are so short, and need no other generator. */
const isShort = <T>(items: Iterable<T>): items is readonly T[] =>
  Array.isArray(items) && items.length <= itemsPerStep;

export function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Steps<U[]> {
  const found: U[] = [];
  if (isShort(items)) {
    for (let at = 0; at < items.length; at++) found.push(change(items[at]!));
    return found;
  }
  yield* each(items, (item) => found.push(change(item)));
  return found;
}

export const collected = <T>(items: Iterable<T>): Steps<T[]> => mapped(items, (item) => item);

/** All lists in one. If only one list has items, the result is this list itself. */
export function* joined<T>(lists: readonly (readonly T[])[]): Steps<readonly T[]> {
  const filled = lists.filter(({ length }) => length > 0);
  if (filled.length < 2) return filled[0] ?? [];
  const all: T[] = [];
  for (const list of filled) yield* each(list, (item) => all.push(item));
  return all;
}

export function* filtered<T>(items: Iterable<T>, test: (item: T) => boolean): Steps<T[]> {
  const found: T[] = [];
  if (isShort(items)) {
    for (let at = 0; at < items.length; at++) if (test(items[at]!)) found.push(items[at]!);
    return found;
  }
  yield* each(items, (item) => {
    if (test(item)) found.push(item);
  });
  return found;
}

export function* every<T>(items: Iterable<T>, test: (item: T) => boolean): Steps<boolean> {
  let left = itemsPerStep;
  for (const item of items) {
    if (!test(item)) return false;
    if (--left > 0) continue;
    left = itemsPerStep;
    yield;
  }
  return true;
}

export function* some<T>(items: Iterable<T>, test: (item: T) => boolean): Steps<boolean> {
  return !(yield* every(items, (item) => !test(item)));
}

export function* grouped<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Steps<Map<K, T[]>> {
  const groups = new Map<K, T[]>();
  yield* each(items, (item) => {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  });
  return groups;
}

/** Sorts by `compare`. Equal items stay in their order. */
export function* sorted<T>(
  items: readonly T[],
  compare: (left: T, right: T) => number,
): Steps<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += itemsPerStep) {
    runs.push(items.slice(at, at + itemsPerStep).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left, right] = [runs[at]!, runs[at + 1]];
      longer.push(right === undefined ? left : yield* merged(left, right, compare));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function* merged<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (left: T, right: T) => number,
): Steps<T[]> {
  const all: T[] = [];
  let [fromLeft, fromRight] = [0, 0];
  while (fromLeft < left.length || fromRight < right.length) {
    const isLeft =
      fromRight >= right.length ||
      (fromLeft < left.length && compare(left[fromLeft]!, right[fromRight]!) <= 0);
    all.push(isLeft ? left[fromLeft++]! : right[fromRight++]!);
    if (all.length % itemsPerStep === 0) yield;
  }
  return all;
}
