/** The nodes of a tree (`tree.ts`), and walks over them. Their invariants are those of the tree. */

/** Takes a value; `false`: it wants no more. */
export type Take<V> = (key: string, value: V) => boolean;

/** Identifies the tree that may change a node in place. */
export type Owner = object;

export class Leaf<V> {
  readonly owner: Owner;
  keys: readonly string[];
  values: V[];
  /** Tells a leaf from a branch. */
  readonly children = undefined;

  constructor(owner: Owner, keys: readonly string[], values: V[]) {
    this.owner = owner;
    this.keys = keys;
    this.values = values;
  }
}

export class Branch<V> {
  readonly owner: Owner;
  /** One fewer than children: `keys[i]` is not above any key under `children[i + 1]`. */
  keys: readonly string[];
  children: Node<V>[];

  constructor(owner: Owner, keys: readonly string[], children: Node<V>[]) {
    this.owner = owner;
    this.keys = keys;
    this.children = children;
  }
}

export type Node<V> = Leaf<V> | Branch<V>;

/** Keys in ascending order, and their values. Those of a set are one array (T5). */
export interface Items<V> {
  readonly keys: readonly string[];
  readonly values: readonly V[];
}

/** Items that a leaf may have. */
export interface OwnItems<V> extends Items<V> {
  readonly values: V[];
}

/** The values for keys that were made of those of `items`; `undefined`: the items are no set. */
const valuesOfSet = <V>({ keys, values }: Items<V>, made: readonly string[]): V[] | undefined =>
  (keys as readonly unknown[]) === values ? (made as readonly unknown[] as V[]) : undefined;

/** The items with a further one at the position. */
export function itemsWith<V>(
  items: Items<V>,
  at: number,
  { key, value }: { readonly key: string; readonly value: V },
): OwnItems<V> {
  const keys = items.keys.toSpliced(at, 0, key);
  return { keys, values: valuesOfSet(items, keys) ?? items.values.toSpliced(at, 0, value) };
}

/** The items without that at the position. */
export function itemsWithout<V>(items: Items<V>, at: number): OwnItems<V> {
  const keys = items.keys.toSpliced(at, 1);
  return { keys, values: valuesOfSet(items, keys) ?? items.values.toSpliced(at, 1) };
}

/** The items of both. */
export function joined<V>(left: Items<V>, right: Items<V>): OwnItems<V> {
  const keys = [...left.keys, ...right.keys];
  return { keys, values: valuesOfSet(left, keys) ?? [...left.values, ...right.values] };
}

/** The items from a position on and before another. */
export function partOf<V>(items: Items<V>, from: number, to: number): OwnItems<V> {
  const keys = items.keys.slice(from, to);
  return { keys, values: valuesOfSet(items, keys) ?? items.values.slice(from, to) };
}

/** The position of the key, or the position for it: the number of lesser keys. */
export function placeOf(keys: readonly string[], key: string): number {
  let from = 0;
  let to = keys.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (keys[middle]! < key) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The position of the child for the key: the number of keys that are not greater. */
export function childAt(keys: readonly string[], key: string): number {
  const at = placeOf(keys, key);
  return keys[at] === key ? at + 1 : at;
}

export const sizeOf = <V>({ keys, children }: Node<V>): number => (children ?? keys).length;

/** The leaves in order, from the leaf of the key on. */
export function* leaves<V>(node: Node<V>, least: string): IterableIterator<Leaf<V>> {
  if (node.children === undefined) yield node;
  else {
    const { keys, children } = node;
    for (let at = childAt(keys, least); at < children.length; at++) {
      yield* leaves(children[at]!, least);
    }
  }
}

/** `ended`: the keys from `end` on were reached. */
export function visitBelow<V>(
  node: Node<V>,
  least: string,
  end: string | undefined,
  take: Take<V>,
): 'ended' | 'stopped' | undefined {
  const { keys } = node;
  if (node.children === undefined) {
    for (let at = placeOf(keys, least); at < keys.length; at++) {
      const key = keys[at]!;
      if (end !== undefined && key >= end) return 'ended';
      if (!take(key, node.values[at]!)) return 'stopped';
    }
    return undefined;
  }
  for (let at = childAt(keys, least); at < node.children.length; at++) {
    const outcome = visitBelow(node.children[at]!, least, end, take);
    if (outcome !== undefined) return outcome;
    if (end !== undefined && at < keys.length && keys[at]! >= end) return 'ended';
  }
  return undefined;
}

/** The leaves in reverse order, from the leaf of the key or from the last leaf on. */
export function* leavesReversed<V>(
  node: Node<V>,
  from: string | undefined,
): IterableIterator<Leaf<V>> {
  if (node.children === undefined) yield node;
  else {
    const { keys, children } = node;
    const last = from === undefined ? keys.length : childAt(keys, from);
    for (let at = last; at >= 0; at--) yield* leavesReversed(children[at]!, from);
  }
}
