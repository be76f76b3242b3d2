import { assert } from '../base/assert.ts';
import { DeferredKeys } from './deferred-keys.ts';
import { terminator } from './keys.ts';
import { Tree } from './tree.ts';

/** Keys in order: `count` of them, from `from` on in the array of {@link GroupedKeys.of}. */
export interface GroupSpan {
  readonly group: string;
  readonly from: number;
  readonly count: number;
}

/** A single key, or a set of keys. */
type Held = string | Tree<string>;

/**
 * The primary keys of the rows of a secondary index. The keys of rows with the same parts of the index are a group, in
 * their order: so no row needs a text of its own for each index, and a row that is replaced in its group changes nothing.
 *
 * A key has a text: the text of its group, followed by the key. Ranges are bounded by beginnings of such texts.
 *
 * Invariants
 *  G1. A group has at least one key. A group that never had more than one key is that key itself.
 *  G2. All groups of an index have the same number of parts. So no group begins with the text of another one, and
 *      groups have the order of their texts.
 *  G3. Clones share the sets of groups. A set with another owner is cloned before it is changed.
 *  G4. Reads show all deferred changes: each read, and each change that is not deferred, makes them first.
 *  G5. `#lastSet` is the set of the group `#lastGroup`, and has the present owner; or it is `undefined`.
 */
export class GroupedKeys {
  readonly #groups: Tree<Held>;
  #size: number;
  #owner: object = {};
  /** Parts of a group; `undefined` as long as there was none. */
  #parts: number | undefined;
  /** The group that was changed last: the next key is often put into it. */
  #lastGroup = '';
  #lastSet: Tree<string> | undefined;
  #deferred: DeferredKeys | undefined;

  private constructor(groups: Tree<Held>, size: number) {
    this.#groups = groups;
    this.#size = size;
  }

  static empty(): GroupedKeys {
    return new GroupedKeys(Tree.empty<Held>(), 0);
  }

  /** Groups in their order, of keys in their order. O(n). */
  static of(spans: readonly GroupSpan[], keys: readonly string[]): GroupedKeys {
    const held = spans.map(({ from, count }): Held => {
      return count === 1 ? keys[from]! : Tree.setOf(keys.slice(from, from + count));
    });
    const texts = spans.map(({ group }) => group);
    const made = new GroupedKeys(Tree.of(texts, held), keys.length);
    for (const text of texts) made.#requireParts(text);
    return made;
  }

  clone(): GroupedKeys {
    this.#owner = {};
    this.#lastSet = undefined;
    const copy = new GroupedKeys(this.#groups.clone(), this.#size);
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

  /** Adds the key, or deletes it, before the next read. */
  defer(group: string, key: string, isThere: boolean): void {
    this.#deferred ??= new DeferredKeys();
    this.#deferred.add(group, key, isThere);
  }

  /** Makes the deferred changes. */
  settle(): void {
    const deferred = this.#deferred;
    if (deferred === undefined) return;
    this.#deferred = undefined;
    // Where each key has a group of its own, there is nothing to bring together.
    const isGrouped = this.#groups.size < this.#size || this.#size === 0;
    deferred.make(isGrouped, (group, key, isThere) => {
      this.change(group, key, isThere);
    });
  }

  /** Adds the key, or deletes it. */
  change(group: string, key: string, isThere: boolean): void {
    if (isThere) this.add(group, key);
    else this.delete(group, key);
  }

  has(group: string, key: string): boolean {
    this.settle();
    const held = this.#groups.get(group);
    return held instanceof Tree ? held.get(key) !== undefined : held === key;
  }

  add(group: string, key: string): void {
    this.settle();
    if (this.#lastSet !== undefined && this.#lastGroup === group) {
      this.#addTo(this.#lastSet, key);
      return;
    }
    const held = this.#groups.get(group);
    if (held === undefined) {
      this.#requireParts(group);
      this.#size++;
      this.#groups.set(group, key);
    } else if (held !== key) this.#addTo(this.#ownedSet(group, held), key);
  }

  #addTo(set: Tree<string>, key: string): void {
    const before = set.size;
    set.set(key, key);
    this.#size += set.size - before;
  }

  /** Deletes the key, if it is there. */
  delete(group: string, key: string): void {
    if (!this.has(group, key)) return;
    const held = this.#groups.get(group)!;
    this.#size--;
    if (!(held instanceof Tree) || held.size === 1) {
      this.#groups.delete(group);
      this.#lastSet = undefined;
    } else this.#ownedSet(group, held).delete(key);
  }

  leastText(): string | undefined {
    this.settle();
    const group = this.#groups.leastKey();
    if (group === undefined) return undefined;
    const held = this.#groups.get(group)!;
    return group + (held instanceof Tree ? held.leastKey()! : held);
  }

  greatestText(): string | undefined {
    this.settle();
    const group = this.#groups.greatestKey();
    if (group === undefined) return undefined;
    const held = this.#groups.get(group)!;
    return group + (held instanceof Tree ? held.greatestKey()! : held);
  }

  /** Keys whose texts are from `least` on and below `end`. The keys must not be changed meanwhile. */
  *keys(least = '', end?: string): IterableIterator<string> {
    this.settle();
    for (const [group, held] of this.#groups.entries(this.#firstGroup(least), end)) {
      const [from, to] = [keyIn(group, least) ?? '', keyIn(group, end)];
      if (held instanceof Tree) yield* held.values(from, to);
      else if (isWithin(held, from, to)) yield held;
    }
  }

  /** Visits the {@link keys} until `take` returns `false`. Returns whether it visited all. */
  visit(least: string, end: string | undefined, take: (key: string) => boolean): boolean {
    this.settle();
    return this.#groups.visit(this.#firstGroup(least), end, (group, held) => {
      const [from, to] = [keyIn(group, least) ?? '', keyIn(group, end)];
      if (held instanceof Tree) return held.visit(from, to, take);
      return !isWithin(held, from, to) || take(held);
    });
  }

  /** The same for the keys of a group; `undefined`: there is no such group. */
  visitGroup(group: string, take: (key: string) => boolean): boolean | undefined {
    this.settle();
    const held = this.#groups.get(group);
    if (held === undefined) return undefined;
    return held instanceof Tree ? held.visit('', undefined, take) : take(held);
  }

  /** The {@link keys}, the greatest text first. */
  *keysReversed(least = '', end?: string): IterableIterator<string> {
    this.settle();
    for (const [group, held] of this.#groups.entriesReversed(this.#firstGroup(least), end)) {
      const [from, to] = [keyIn(group, least) ?? '', keyIn(group, end)];
      if (held instanceof Tree) yield* held.valuesReversed(from, to);
      else if (isWithin(held, from, to)) yield held;
    }
  }

  /** The group that the text lies in; the text, if it lies before a group. */
  #firstGroup(text: string): string {
    const group = this.#groups.floorKey(text);
    return group !== undefined && text.startsWith(group) ? group : text;
  }

  /** The set of a group that may be changed. */
  #ownedSet(group: string, held: Held): Tree<string> {
    const set = this.#ownSet(held);
    if (set !== held) this.#groups.set(group, set);
    this.#lastGroup = group;
    this.#lastSet = set;
    return set;
  }

  #ownSet(held: Held): Tree<string> {
    if (held instanceof Tree) {
      return held.isOwnedBy(this.#owner) ? held : held.cloneFor(this.#owner);
    }
    const set = Tree.emptySet(this.#owner);
    set.set(held, held);
    return set;
  }

  #requireParts(group: string): void {
    const parts = partsOf(group);
    this.#parts ??= parts;
    assert(parts === this.#parts, 'the keys of an index have different numbers of parts');
  }
}

const isWithin = (key: string, least: string, end: string | undefined): boolean =>
  key >= least && (end === undefined || key < end);

/** The part of `text` behind the group; `undefined`: `text` does not begin with the group. */
const keyIn = (group: string, text: string | undefined): string | undefined =>
  text?.startsWith(group) === true ? text.slice(group.length) : undefined;

function partsOf(text: string): number {
  let parts = 0;
  for (let at = text.indexOf(terminator); at !== -1; at = text.indexOf(terminator, at + 1)) parts++;
  return parts;
}
