import { assert } from '../base/assert.ts';
import { GroupedKeys } from './grouped-keys.ts';
import { Gathering, inOrder, type SortedRows } from './in-order.ts';
import { PrimaryRows, SecondaryRows } from './indexed-rows.ts';
import { encodeKey, hasSameParts } from './keys.ts';
import type { OrderedIndex } from './ordered-index.ts';
import type { Stepping } from './stepping.ts';
import type { AnyTable } from './table.ts';
import { Tree } from './tree.ts';
import type { IndexDefinition, Key, Stamps } from './types.ts';
import type { Tables } from './view.ts';

type Touch = (row: Stamps) => number;

/** An index of a table that is loaded. */
interface Order {
  readonly index: OrderedIndex<Stamps>;
  readonly touch: Touch;
  readonly scopeParts: number;
  /** Whether it may have marks. */
  isMarked: boolean;
}

interface Secondary extends Order {
  readonly key: IndexDefinition<Stamps>['key'];
  readonly sharesKeys: boolean;
}

/** A row, and the one in its place before. */
interface Replaced {
  readonly before: Stamps | undefined;
  readonly after: Stamps | undefined;
}

/**
 * An empty table that is filled from a store: with the rows of a snapshot, and then with the changes of the log after it.
 *
 * Invariants
 *  L1. After `end` the table is as if each change had been made in it: rows, marks, and the index of every range.
 *  L2. Until `end` its indexes have no rows. They are made at once of all rows in order, so that no row is put in its place
 *      that a later change replaces.
 *  L3. A change that leaves a mark, or takes one away, is made in its index at once. Any other change shows in the row that it
 *      leaves, so the indexes of ranges follow from the rows at the end (O2 in `ordered-index.ts`).
 */
export class TableLoading {
  readonly table: AnyTable;
  readonly shared: readonly string[];
  readonly #rows = new KeyedRows();
  readonly #primary: Order;
  readonly #secondary: readonly Secondary[];

  constructor(table: AnyTable) {
    const { definition, primary, secondary, shared } = table;
    this.table = table;
    this.shared = shared;
    this.#primary = orderOf(primary, definition.scopeParts);
    const indexes: Readonly<Record<string, IndexDefinition<Stamps>>> = definition.indexes;
    this.#secondary = secondary.map(({ name, key, index, sharesKeys }) => {
      const { scopeParts, touch } = indexes[name]!;
      return { ...orderOf(index, scopeParts, touch), key, sharesKeys };
    });
    primary.beginLoading();
    for (const { index } of secondary) index.beginLoading();
  }

  get definition(): AnyTable['definition'] {
    return this.table.definition;
  }

  /** The row at the key. */
  at(key: Key): Stamps | undefined {
    return this.#rows.near(key).get(key.at(-1));
  }

  get(...key: Key): Stamps | undefined {
    return this.at(key);
  }

  /** Puts a row of a stored snapshot. */
  restoreRow(row: Stamps): void {
    const key = this.definition.key(row);
    const rows = this.#rows.near(key);
    const { size } = rows;
    rows.set(key.at(-1), row);
    assert(rows.size > size, 'a stored snapshot holds a key twice');
  }

  /** Takes marks and floor of an index of a stored snapshot. */
  restoreMarks(
    index: OrderedIndex<Stamps>,
    floor: number,
    marks: readonly (readonly [string, number])[],
  ): void {
    index.restoreMarks(floor, marks);
    if (marks.length === 0) return;
    for (const order of this.#orders()) order.isMarked ||= order.index === index;
  }

  /** Puts the row at the key, or deletes the row there, and tells no index. */
  put(key: Key, row: Stamps | undefined): void {
    const rows = this.#rows.near(key);
    if (row === undefined) rows.delete(key.at(-1));
    else rows.set(key.at(-1), row);
  }

  /** Makes the change of a stored transaction. Returns whether an index may have another mark. */
  replace(key: Key, { before, after }: Replaced, stepping: Stepping): boolean {
    this.put(key, after);
    const change = { key, before, after };
    let isMarked = this.#changeIn(this.#primary, whole, change, stepping);
    for (const order of this.#secondary) {
      // A new row whose touch tells of it leaves no mark in any group.
      if (before === undefined && after !== undefined && showsIn(order, after, stepping)) continue;
      const from = before === undefined ? undefined : order.key(before);
      const to = after === undefined ? undefined : order.key(after);
      if (this.#changeIn(order, { from, to }, change, stepping)) isMarked = true;
    }
    return isMarked;
  }

  /** Ends the loading. */
  end(): void {
    const all = inOrder(this.#rows.taken());
    const rows = new PrimaryRows(Tree.of(all.keys, all.rows));
    this.#primary.index.settle(rows);
    noteScopes(this.#primary, all);
    this.#endSecondary(all, rows);
  }

  #endSecondary(all: SortedRows<Stamps>, rows: PrimaryRows<Stamps>): void {
    const gatherings: Gathering<Stamps>[] = [];
    const latest = this.#secondary.map(({ key, touch, sharesKeys }) => {
      if (!sharesKeys) gatherings.push(new Gathering(all, key));
      return gatherings.at(-1)!.latestBy(touch);
    });
    // A single pass over the rows serves all indexes.
    for (let position = 0; position < all.rows.length; position++) {
      for (const gathering of gatherings) gathering.note(position);
    }
    gatherings.reverse();
    let shared: SecondaryRows<Stamps> | undefined;
    for (const [at, { index, sharesKeys }] of this.#secondary.entries()) {
      if (!sharesKeys) {
        const { spans, keys } = gatherings.pop()!.sorted;
        shared = new SecondaryRows(rows, GroupedKeys.of(spans, keys));
      }
      index.settle(shared!);
      for (const [group, row] of latest[at]!()) index.restoreRow(group, '', row);
    }
  }

  /** L3. Returns whether the index may have another mark. */
  #changeIn(
    order: Order,
    { from, to }: Groups,
    { key, before, after }: Replaced & { readonly key: Key },
    stepping: Stepping,
  ): boolean {
    const was = from === undefined ? undefined : before;
    const is = to === undefined ? undefined : after;
    const stays = was !== undefined && is !== undefined && hasSameParts(from!, to!);
    if (stays && !order.index.isMoved(was, is)) return false;
    const shows = is !== undefined && showsIn(order, is, stepping);
    if ((was === undefined || stays) && (is === undefined || shows)) return false;
    const text = encodeKey(key);
    if (was !== undefined && !stays) order.index.remove(encodeKey(from!), text, was, stepping);
    if (is !== undefined) {
      const put = { before: stays ? was : undefined, after: is };
      order.index.set(encodeKey(to!), text, put, stepping);
    }
    order.isMarked = true;
    return true;
  }

  *#orders(): Generator<Order> {
    yield this.#primary;
    yield* this.#secondary;
  }
}

/**
 * Rows by key. They are found by the last part of it among the rows with the same other parts, so that no text is made of a
 * key before all rows are there: a row may change often.
 */
class KeyedRows {
  /** By the text of all parts but the last. */
  readonly #heads = new Map<string, Near>();
  /** The rows that were asked for last, and a key of theirs: those of the next key are often the same. */
  #near: Near = new Map();
  #nearKey: Key | undefined;

  /** The rows whose keys differ from this one in no part but the last, by that. */
  near(key: Key): Near {
    if (this.#nearKey === undefined || !hasSameHead(key, this.#nearKey)) {
      const head = encodeKey(key.slice(0, -1));
      this.#near = this.#heads.get(head) ?? new Map();
      this.#heads.set(head, this.#near);
      this.#nearKey = key;
    }
    return this.#near;
  }

  /** All rows, by the text of their key. They are here no longer. */
  taken(): { readonly keys: string[]; readonly rows: Stamps[] } {
    const keys: string[] = [];
    const rows: Stamps[] = [];
    for (const [head, near] of this.#heads) {
      for (const [last, row] of near) {
        keys.push(last === undefined ? head : head + encodeKey([last]));
        rows.push(row);
      }
      near.clear();
    }
    this.#heads.clear();
    return { keys, rows };
  }
}

/** By the last part of a key; `undefined`: the key has no parts. */
type Near = Map<string | undefined, Stamps>;

/** Whether two keys differ in no part but the last. */
function hasSameHead(left: Key, right: Key): boolean {
  if (left.length !== right.length) return false;
  for (let at = left.length - 2; at >= 0; at--) if (left[at] !== right[at]) return false;
  return true;
}

/** The loading of each of the empty tables, by name. */
export const loadingsOf = (tables: Tables): ReadonlyMap<string, TableLoading> =>
  new Map([...tables].map(([name, table]) => [name, new TableLoading(table)]));

/** The groups of a row in an index, before and after a change. */
interface Groups {
  readonly from: Key | undefined;
  readonly to: Key | undefined;
}

/** The primary index has a single group. */
const whole: Groups = { from: [], to: [] };

const orderOf = (
  index: OrderedIndex<Stamps>,
  scopeParts = 0,
  touch: Touch = modifyIndex,
): Order => ({
  index,
  scopeParts,
  touch,
  isMarked: false,
});

const modifyIndex: Touch = (row) => row.ModifyIndex;

/** Whether the row tells that the transaction put it, and no mark beside it tells of another change. */
const showsIn = ({ touch, isMarked }: Order, row: Stamps, { index }: Stepping): boolean =>
  !isMarked && touch(row) === index;

/** Notes the greatest touch of each scope of a primary index. */
function noteScopes({ index, touch, scopeParts }: Order, { keys, rows }: SortedRows<Stamps>): void {
  let scope: string | undefined;
  let greatest = 0;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    const key = keys[at]!;
    const isSame = scope !== undefined && key.startsWith(scope);
    if (isSame && touch(row) <= greatest) continue;
    if (!isSame) scope = beginningOf(key, scopeParts);
    greatest = touch(row);
    index.restoreRow('', key, row);
  }
}

/** The first parts of a key. */
function beginningOf(key: string, parts: number): string {
  let end = 0;
  for (let part = 0; part < parts; part++) end = key.indexOf('\0', end) + 1;
  return key.slice(0, end);
}
