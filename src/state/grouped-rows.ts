import { assert } from '../base/assert.ts';
import { DeferredRows } from './deferred-rows.ts';
import { terminator } from './keys.ts';
import { Tree } from './tree.ts';

/** Rows in order: `count` of them, from `from` on in the arrays of {@link GroupedRows.of}. */
export interface GroupSpan {
  readonly group: string;
  readonly from: number;
  readonly count: number;
}

type Held<R extends object> = R | Tree<R>;

/**
 * The rows of an index. The rows with the same parts of the index are a group, in the order of their primary keys:
 * so no row needs a text of its own for each index. The primary index has a single group, whose text is empty.
 *
 * A text is that of a group, followed by that of a primary key. Bounds of ranges are beginnings of such texts.
 *
 * Invariants
 *  G1. A group has at least one row. A group that never had more than one row is that row itself.
 *  G2. All groups of an index have the same number of parts. So no group begins with the text of another one, and
 *      groups have the order of their rows' texts.
 *  G3. Clones share the trees of groups. A tree with another owner is cloned before it is changed.
 *  G4. Reads show all deferred changes: each read, and each change that is not deferred, makes them first.
 *  G5. `#lastTree` is the tree of the group `#lastGroup`, and has the present owner; or it is `undefined`.
 */
export class GroupedRows<R extends object> {
  readonly #groups: Tree<Held<R>>;
  readonly #keyOf: (row: R) => string;
  #size: number;
  #owner: object = {};
  /** Parts of a group; `undefined` as long as there was none. */
  #parts: number | undefined;
  /** The group that was changed last: the next row is often put into it. */
  #lastGroup = '';
  #lastTree: Tree<R> | undefined;
  #deferred: DeferredRows<R> | undefined;

  private constructor(keyOf: (row: R) => string, groups: Tree<Held<R>>, size: number) {
    this.#keyOf = keyOf;
    this.#groups = groups;
    this.#size = size;
  }

  /** `keyOf`: the text of a row's primary key. */
  static empty<R extends object>(keyOf: (row: R) => string): GroupedRows<R> {
    return new GroupedRows(keyOf, Tree.empty<Held<R>>(), 0);
  }

  /** Groups in their order, of rows in the order of their primary keys. O(n). */
  static of<R extends object>(
    keyOf: (row: R) => string,
    spans: readonly GroupSpan[],
    { keys, rows }: { readonly keys: readonly string[]; readonly rows: readonly R[] },
  ): GroupedRows<R> {
    const held = spans.map(({ from, count }): Held<R> => {
      const to = from + count;
      return count === 1 ? rows[from]! : Tree.of(keys.slice(from, to), rows.slice(from, to));
    });
    const texts = spans.map(({ group }) => group);
    const made = new GroupedRows(keyOf, Tree.of(texts, held), rows.length);
    for (const text of texts) made.#requireParts(text);
    return made;
  }

  clone(): GroupedRows<R> {
    this.#owner = {};
    this.#lastTree = undefined;
    const copy = new GroupedRows(this.#keyOf, this.#groups.clone(), this.#size);
    copy.#parts = this.#parts;
    copy.#deferred = this.#deferred?.clone();
    return copy;
  }

  get size(): number {
    this.settle();
    return this.#size;
  }

  /** Number of changes that are deferred. */
  get deferred(): number {
    return this.#deferred?.count ?? 0;
  }

  /** Puts the row, or deletes the row of that key, before the next read. */
  defer(group: string, key: string, row: R | undefined): void {
    this.#deferred ??= new DeferredRows();
    this.#deferred.add(group, key, row);
  }

  /** Makes the deferred changes. */
  settle(): void {
    const deferred = this.#deferred;
    if (deferred === undefined) return;
    this.#deferred = undefined;
    // Where each row has a group of its own, there is nothing to bring together.
    const isGrouped = this.#groups.size < this.#size || this.#size === 0;
    deferred.make(isGrouped, (group, key, row) => {
      if (row === undefined) this.delete(group, key);
      else this.set(group, key, row);
    });
  }

  get(group: string, key: string): R | undefined {
    this.settle();
    const held = this.#groups.get(group);
    if (held === undefined || held instanceof Tree) return held?.get(key);
    return this.#keyOf(held) === key ? held : undefined;
  }

  set(group: string, key: string, row: R): void {
    this.settle();
    if (this.#lastTree !== undefined && this.#lastGroup === group) {
      this.#setIn(this.#lastTree, key, row);
      return;
    }
    const held = this.#groups.get(group);
    if (held === undefined) {
      this.#requireParts(group);
      this.#size++;
      this.#groups.set(group, row);
    } else if (!(held instanceof Tree) && this.#keyOf(held) === key) {
      this.#groups.set(group, row);
    } else this.#setIn(this.#ownedTree(group, held), key, row);
  }

  #setIn(tree: Tree<R>, key: string, row: R): void {
    const before = tree.size;
    tree.set(key, row);
    this.#size += tree.size - before;
  }

  /** Deletes the row of that key, if it is there. */
  delete(group: string, key: string): void {
    this.settle();
    const held = this.#groups.get(group);
    if (held === undefined || this.get(group, key) === undefined) return;
    this.#size--;
    if (!(held instanceof Tree) || held.size === 1) {
      this.#groups.delete(group);
      this.#lastTree = undefined;
    } else this.#ownedTree(group, held).delete(key);
  }

  leastText(): string | undefined {
    this.settle();
    const group = this.#groups.leastKey();
    if (group === undefined) return undefined;
    const held = this.#groups.get(group)!;
    return group + (held instanceof Tree ? held.leastKey()! : this.#keyOf(held));
  }

  greatestText(): string | undefined {
    this.settle();
    const group = this.#groups.greatestKey();
    if (group === undefined) return undefined;
    const held = this.#groups.get(group)!;
    return group + (held instanceof Tree ? held.greatestKey()! : this.#keyOf(held));
  }

  /** Rows whose texts are from `least` on and below `end`. The rows must not be changed meanwhile. */
  *values(least = '', end?: string): IterableIterator<R> {
    this.settle();
    for (const [group, held] of this.#groups.entries(this.#firstGroup(least), end)) {
      const [from, to] = [keyIn(group, least) ?? '', keyIn(group, end)];
      if (held instanceof Tree) yield* held.values(from, to);
      else if (this.#isWithin(held, from, to)) yield held;
    }
  }

  /** The rows of {@link values}; `undefined`: there are more than `most`. */
  few(least: string, end: string | undefined, most: number): R[] | undefined {
    this.settle();
    const found: R[] = [];
    const take = (_: string, row: R) => found.push(row) <= most;
    const isWhole = this.#groups.visit(this.#firstGroup(least), end, (group, held) => {
      const [from, to] = [keyIn(group, least) ?? '', keyIn(group, end)];
      if (held instanceof Tree) return held.visit(from, to, take);
      return !this.#isWithin(held, from, to) || take('', held);
    });
    return isWhole ? found : undefined;
  }

  /** The rows of {@link values}, the greatest text first. */
  *valuesReversed(least = '', end?: string): IterableIterator<R> {
    this.settle();
    for (const [group, held] of this.#groups.entriesReversed(this.#firstGroup(least), end)) {
      const [from, to] = [keyIn(group, least) ?? '', keyIn(group, end)];
      if (held instanceof Tree) yield* held.valuesReversed(from, to);
      else if (this.#isWithin(held, from, to)) yield held;
    }
  }

  /** The group that the text lies in; the text, if it lies before a group. */
  #firstGroup(text: string): string {
    const group = this.#groups.floorKey(text);
    return group !== undefined && text.startsWith(group) ? group : text;
  }

  #isWithin(row: R, least: string, end: string | undefined): boolean {
    if (least === '' && end === undefined) return true;
    const key = this.#keyOf(row);
    return key >= least && (end === undefined || key < end);
  }

  /** The tree of a group that may be changed. */
  #ownedTree(group: string, held: Held<R>): Tree<R> {
    const tree = this.#ownTree(held);
    if (tree !== held) this.#groups.set(group, tree);
    this.#lastGroup = group;
    this.#lastTree = tree;
    return tree;
  }

  #ownTree(held: Held<R>): Tree<R> {
    if (held instanceof Tree) {
      return held.isOwnedBy(this.#owner) ? held : held.cloneFor(this.#owner);
    }
    const tree = Tree.empty<R>(this.#owner);
    tree.set(this.#keyOf(held), held);
    return tree;
  }

  #requireParts(group: string): void {
    const parts = partsOf(group);
    this.#parts ??= parts;
    assert(parts === this.#parts, 'the keys of an index have different numbers of parts');
  }
}

/** The rest of the text after that of the group; `undefined`: the text does not begin with the group. */
const keyIn = (group: string, text: string | undefined): string | undefined =>
  text?.startsWith(group) === true ? text.slice(group.length) : undefined;

function partsOf(text: string): number {
  let parts = 0;
  for (let at = text.indexOf(terminator); at !== -1; at = text.indexOf(terminator, at + 1)) parts++;
  return parts;
}
