import { assert } from '../base/assert.ts';
import { PrimaryRows, type SecondaryRows } from './indexed-rows.ts';
import { afterPrefix, encodeRange } from './keys.ts';
import { type Bounds, boundsOf, scanBetween } from './scan-bounds.ts';
import type { Step, Stepping } from './stepping.ts';
import { Tree } from './tree.ts';
import type { KeyRange, RangeReader, ScanOptions, Stamps } from './types.ts';

/** So many rows of a scan are gathered at once. Not in limits: it only decides about speed. */
const fewRows = 16;

type Rows<R> = PrimaryRows<R> | SecondaryRows<R>;

/** The row of a key before a change, and after it. */
interface Change<R> {
  readonly before: R | undefined;
  readonly after: R | undefined;
}

/** The settings of an index. */
interface Order<R extends Stamps> {
  readonly slot: number;
  readonly touch?: ((row: R) => number) | undefined;
  readonly scopeParts?: number | undefined;
  /** Whether another index owns the keys that it has. */
  readonly sharesKeys?: boolean | undefined;
}

/**
 * Rows in the order of one key, primary or secondary. The key of a row is that of its group, followed by its primary key
 * (`grouped-keys.ts`). Only the primary index holds rows (`indexed-rows.ts`).
 *
 * Invariants
 *  O1. `lastIndex(range)` is the index of the last transaction that changed the range as far as
 *      this index is concerned, or later (O3). It never goes back.
 *  O2. A change shows in its row's touch. Where it cannot (the row left this key, or came to it
 *      with an older touch) a mark at the key holds the transaction's index.
 *  O3. The number of marks is bounded. The oldest marks are dropped by raising `floor`, which counts as
 *      a change of every range. Pruning depends on the marks alone, so a replay prunes alike.
 *  O4. `last` is the `lastIndex` of all keys.
 *  O5. `lastIndex` is kept for each scope, the keys with the same first `scopeParts` parts, since lists
 *      ask for it often. It is the index of the last change there.
 *  O6. A clone costs O(1), and changes of its original never change it.
 *  O7. While it is loaded it has no rows: `settle` gives them. Marks and indexes follow each change.
 *  O8. Of two indexes that share their keys, the owner changes them, and is changed first. The primary index is changed
 *      before all others.
 *  O9. After a restore the index of a key with a row is that of the restore, or a later one.
 */
export class OrderedIndex<R extends Stamps> implements RangeReader<R> {
  readonly #order: Order<R>;
  /** Which index of which table; the same in every clone. */
  readonly slot: number;
  readonly #touch: ((row: R) => number) | undefined;
  #rows: Rows<R>;
  #marks: Tree<number>;
  readonly #scopeParts: number;
  readonly #scopes: Tree<number>;
  /** Its rows come at the end of the loading, all at once. */
  #isLoading = false;
  #floor = 0;
  #last = 0;
  /** The scope whose `lastIndex` was raised last: the next change is often in the same. */
  #lastScope: string | undefined;
  /** Index of the last restore; 0: there was none. */
  #restored = 0;

  constructor(
    order: Order<R>,
    rows: Rows<R> = new PrimaryRows<R>(),
    marks: Tree<number> = Tree.empty<number>(),
    scopes: Tree<number> = Tree.empty<number>(),
  ) {
    this.#order = order;
    this.slot = order.slot;
    this.#touch = order.touch;
    this.#scopeParts = order.scopeParts ?? 0;
    this.#rows = rows;
    this.#marks = marks;
    this.#scopes = scopes;
  }

  /** `rows`: the clone of its rows. */
  clone(rows: Rows<R>): OrderedIndex<R> {
    const copy = new OrderedIndex(
      this.#order,
      rows,
      this.#marks.size === 0 ? undefined : this.#marks.clone(),
      this.#scopes.size === 0 ? undefined : this.#scopes.clone(),
    );
    copy.#floor = this.#floor;
    copy.#last = this.#last;
    copy.#restored = this.#restored;
    return copy;
  }

  get rows(): Rows<R> {
    return this.#rows;
  }

  get size(): number {
    return this.#rows.size;
  }

  get last(): number {
    return this.#last;
  }

  get restored(): number {
    return this.#restored;
  }

  get floor(): number {
    return this.#floor;
  }

  marks(): IterableIterator<[string, number]> {
    return this.#marks.entries();
  }

  /** The row of a primary key, in the primary index. */
  get(key: string): R | undefined {
    return this.#rows.get(key);
  }

  /** The index of the last change of a primary key, in the primary index. `row`: its row, where it is known. */
  lastIndexOfKey(key: string, row: R | undefined = this.get(key)): number {
    const mark = this.#marks.size === 0 ? 0 : (this.#marks.get(key) ?? 0);
    if (row === undefined) return Math.max(mark, this.#floor);
    return Math.max(mark, this.#touchOf(row), this.#restored);
  }

  lastIndex(range?: KeyRange): number {
    return this.lastIndexUnder(encodeRange(range));
  }

  /** {@link lastIndex} of the keys that begin with `prefix`. O(rows in the range), or O(1) (O5). */
  lastIndexUnder(prefix: string): number {
    if (prefix === '') return this.#last;
    if (this.#scopeParts > 0 && this.#scopeOf(prefix) === prefix) {
      return Math.max(this.#scopes.get(prefix) ?? 0, this.#floor);
    }
    const end = afterPrefix(prefix);
    // If all keys begin with the prefix, the walk would find `last`.
    if (
      isWithin(prefix, this.#rows.leastText(), this.#rows.greatestText()) &&
      isWithin(prefix, this.#marks.leastKey(), this.#marks.greatestKey())
    ) {
      return this.#last;
    }
    let greatest = this.#floor;
    // No mark or touch exceeds `last`, so the walk ends when it has found it.
    for (const mark of this.#marks.values(prefix, end)) {
      if (greatest === this.#last) break;
      if (mark > greatest) greatest = mark;
    }
    for (const row of this.#rows.values(prefix, end)) {
      if (greatest === this.#last) break;
      const touch = this.#touchOf(row);
      if (touch > greatest) greatest = touch;
    }
    return greatest;
  }

  /** The first row in the range that matches, which must not change the index. */
  find(range: KeyRange, matches: (row: R) => boolean = isAny): R | undefined {
    let found: R | undefined;
    this.#rows.visitUnder(encodeRange(range), (row) => {
      if (matches(row)) found = row;
      return found === undefined;
    });
    return found;
  }

  /** Must not be mixed with changes: see {@link stableScan}. */
  scan(options: ScanOptions = {}): IterableIterator<R> {
    const bounds = boundsOf(options);
    return this.#scanFew(bounds) ?? scanBetween(this.#rows, bounds);
  }

  /** Yields the present rows, even if the index is changed meanwhile. */
  stableScan(options: ScanOptions = {}): IterableIterator<R> {
    const bounds = boundsOf(options);
    // After a clone, each change copies the path to its key.
    return this.#scanFew(bounds) ?? scanBetween(this.#rows.clone(), bounds);
  }

  #scanFew({ least, end, isReverse }: Bounds): IterableIterator<R> | undefined {
    const rows = this.#rows.few(least, end, fewRows);
    return (isReverse ? rows?.reverse() : rows)?.values();
  }

  /** Puts the row `after` into its group, in place of `before`. */
  set(
    group: string,
    key: string,
    { before, after }: Change<R> & { readonly after: R },
    stepping: Stepping,
  ): void {
    const { index } = stepping;
    const touch = this.#touchOf(after);
    assert(touch <= index, 'a row was touched by a later transaction than the one that puts it');
    const moved = before === undefined || this.#touchOf(before) !== touch;
    if (before !== undefined && this.#isAsBefore(group, moved, touch, index)) return;
    const scope = this.#scopeOf(group || key);
    const mark = this.#noteStep({ group, key, row: before }, { scope, moved }, stepping);
    this.#changeRow(group, key, { before, after }, stepping);
    if (!moved) return;
    if (touch < index) this.#marks.set(group + key, index);
    else if (mark !== undefined) this.#marks.delete(group + key);
    this.#noteLast(scope, index);
  }

  /**
   * Whether nothing changes in a secondary index as a row is replaced in its group, and nothing would be to undo: the row does
   * not move, or the same transaction has moved another row of the scope.
   */
  #isAsBefore(group: string, moved: boolean, touch: number, index: number): boolean {
    if (this.#rows instanceof PrimaryRows) return false;
    if (!moved) return true;
    if (touch < index || index !== this.#last || this.#marks.size > 0) return false;
    if (this.#scopeParts === 0) return true;
    return this.#lastScope !== undefined && group.startsWith(this.#lastScope);
  }

  /** Removes the row, which is there. */
  remove(group: string, key: string, before: R, stepping: Stepping): void {
    const { index } = stepping;
    const scope = this.#scopeOf(group || key);
    this.#noteStep({ group, key, row: before }, { scope, moved: true }, stepping);
    this.#changeRow(group, key, { before, after: undefined }, stepping);
    this.#marks.set(group + key, index);
    this.#noteLast(scope, index);
  }

  #changeRow(group: string, key: string, { before, after }: Change<R>, { defers }: Stepping): void {
    if (this.#isLoading) return;
    const rows = this.#rows;
    if (rows instanceof PrimaryRows) rows.change(key, after);
    else if (this.#order.sharesKeys !== true) {
      const isThere = after !== undefined;
      if (isThere === (before !== undefined)) return;
      if (defers === true) rows.keys.defer(group, key, isThere);
      else rows.keys.change(group, key, isThere);
    }
  }

  /** Makes the deferred changes of keys if there are more of them. Returns whether there were. */
  settleBeyond(deferredMax: number): boolean {
    const rows = this.#rows;
    if (rows instanceof PrimaryRows || this.#order.sharesKeys === true) return false;
    if (rows.keys.deferred <= deferredMax) return false;
    rows.keys.settle();
    return true;
  }

  /** Whether `lastIndex` of the ranges around a key moved when the row there was replaced. */
  isMoved(before: R | undefined, after: R | undefined): boolean {
    if (before === undefined || after === undefined) return true;
    return this.#touchOf(before) !== this.#touchOf(after);
  }

  /** Undoes a step. Steps are undone in reverse order. */
  undo({ group, key, row, mark, last, scopeLast }: Step): void {
    const rows = this.#rows;
    if (rows instanceof PrimaryRows) rows.change(key, row as R | undefined);
    else if (this.#order.sharesKeys !== true) rows.keys.change(group, key, row !== undefined);
    if (mark !== undefined) this.#marks.set(group + key, mark);
    else if (this.#marks.size > 0) this.#marks.delete(group + key);
    this.#last = last;
    this.#lastScope = undefined;
    if (scopeLast !== undefined) this.#scopes.set(this.#scopeOf(group || key)!, scopeLast);
  }

  /**
   * Drops the older half of the marks if there are more than `limit`. The other half becomes a new tree:
   * deleting thousands of keys from a tree that clones share would copy it node by node.
   */
  prune(limit: number): void {
    if (this.#marks.size <= limit) return;
    const ages = Float64Array.from(this.#marks.values()).sort();
    const floor = ages[ages.length >> 1]!;
    const kept = [...this.#marks.entries()].filter(([, mark]) => mark > floor);
    this.#marks = Tree.of(
      kept.map(([key]) => key),
      kept.map(([, mark]) => mark),
    );
    this.#floor = Math.max(this.#floor, floor);
  }

  /** Begins the loading of an empty index. `settle` ends it. */
  beginLoading(): void {
    this.#isLoading = true;
  }

  /** Notes a row of a stored snapshot. */
  restoreRow(group: string, key: string, row: R): void {
    this.#raiseLast(this.#scopeOf(group || key), this.#touchOf(row));
  }

  /** Ends the loading with the rows. */
  settle(rows: Rows<R>): void {
    this.#isLoading = false;
    this.#rows = rows;
  }

  /** Notes a restore: all that is here, and all that is not, changed at that index. */
  restoreAt(index: number): void {
    this.noteRestore(index);
    this.restoreMarks(index, []);
  }

  /** Notes the index of the last restore, whose marks and floor are there. */
  noteRestore(index: number): void {
    this.#restored = index;
  }

  /** Takes marks and floor of a stored snapshot. */
  restoreMarks(floor: number, marks: readonly (readonly [string, number])[]): void {
    this.#floor = floor;
    this.#last = Math.max(this.#last, floor);
    for (const [key, mark] of marks) {
      this.#marks.set(key, mark);
      this.#raiseLast(this.#scopeOf(key), mark);
    }
  }

  /** Adds the step to `steps`. Returns the mark at the key, if it is needed. */
  #noteStep(
    { group, key, row }: Pick<Step, 'group' | 'key'> & { row: R | undefined },
    { scope, moved }: { readonly scope: string | undefined; readonly moved: boolean },
    { steps }: Stepping,
  ): number | undefined {
    if (steps === undefined && !moved) return undefined;
    const mark = this.#mayHaveMark(row) ? this.#marks.get(group + key) : undefined;
    if (steps === undefined) return mark;
    const scopeLast = scope === undefined ? undefined : (this.#scopes.get(scope) ?? 0);
    steps.push({ index: this, group, key, row, mark, last: this.#last, scopeLast });
    return mark;
  }

  /** Whether the key of the row may have a mark. A row whose touch is its last change needs none (O2). */
  #mayHaveMark(row: R | undefined): boolean {
    return this.#marks.size > 0 && (row === undefined || this.#touch !== undefined);
  }

  /** The same for the index of the newest transaction, which no index exceeds. */
  #noteLast(scope: string | undefined, index: number): void {
    const isNoted = scope === this.#lastScope && index === this.#last;
    if (index > this.#last) this.#last = index;
    if (scope === undefined || isNoted) return;
    this.#scopes.set(scope, index);
    this.#lastScope = scope;
  }

  /** Raises `last`, and the `lastIndex` of the scope, to the index. */
  #raiseLast(scope: string | undefined, index: number): void {
    if (index > this.#last) this.#last = index;
    if (scope === undefined) return;
    if (index > (this.#scopes.get(scope) ?? 0)) this.#scopes.set(scope, index);
  }

  /** The first `scopeParts` parts of a key or range; `undefined` if it has fewer. */
  #scopeOf(key: string): string | undefined {
    if (this.#scopeParts === 0) return undefined;
    let end = 0;
    for (let parts = 0; parts < this.#scopeParts; parts++) {
      end = key.indexOf('\0', end) + 1;
      if (end === 0) return undefined;
    }
    return key.slice(0, end);
  }

  #touchOf(row: R): number {
    return this.#touch === undefined ? row.ModifyIndex : this.#touch(row);
  }
}

const isAny = () => true;

/** Whether all keys begin with the prefix: so do the least and the greatest key. */
function isWithin(
  prefix: string,
  least: string | undefined,
  greatest: string | undefined,
): boolean {
  return least === undefined || (least.startsWith(prefix) && greatest!.startsWith(prefix));
}
