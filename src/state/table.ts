import { assert } from '../base/assert.ts';
import { PrimaryRows, SecondaryRows } from './indexed-rows.ts';
import { encodeKey, hasSameParts } from './keys.ts';
import { OrderedIndex } from './ordered-index.ts';
import type { Stepping } from './stepping.ts';
import type {
  IndexDefinition,
  Key,
  KeyRange,
  RangeReader,
  ScanOptions,
  Stamps,
  TableDefinition,
  TableReader,
} from './types.ts';

interface Secondary<R extends Stamps> {
  readonly name: string;
  readonly key: IndexDefinition<R>['key'];
  readonly index: OrderedIndex<R>;
  /** Whether it shares the keys of the index before it. */
  readonly sharesKeys: boolean;
  /** The text of its group that was asked for last: the rows of a plan often have the same. */
  readonly texts: LastText;
}

/** A row, and the one in its place before. */
interface Replaced<R> {
  readonly before: R | undefined;
  readonly after: R | undefined;
}

/** Takes the slot of an index, and the text of a row's group there. */
type Visit = (slot: number, group: string) => void;

/** A table of any row type, as the machinery of the state handles it. */
export type AnyTable = Table<Stamps, string>;
/** Definitions of tables with different rows, in one list. */
// biome-ignore lint/suspicious/noExplicitAny: a table's row type is invariant, so no type but `any` holds them all
export type AnyDefinition = TableDefinition<any, any>;

/** One table's rows in the order of its primary key and of each secondary index. */
export class Table<R extends Stamps, I extends string> implements TableReader<R, I> {
  readonly definition: TableDefinition<R, I>;
  readonly primary: OrderedIndex<R>;
  readonly secondary: readonly Secondary<R>[];
  /** The beginning of its entries in a batch. */
  readonly entryHead: string;
  readonly shared: readonly string[];
  /** The index in whose order a snapshot has the rows, if it is not the primary index. */
  readonly alike: OrderedIndex<R> | undefined;

  private constructor(
    definition: TableDefinition<R, I>,
    primary: OrderedIndex<R>,
    secondary: readonly Secondary<R>[],
  ) {
    this.definition = definition;
    this.primary = primary;
    this.secondary = secondary;
    this.shared = definition.shared ?? [];
    this.alike = secondary.find(({ name }) => definition.indexes[name as I].alike)?.index;
    this.entryHead = `[${JSON.stringify(definition.name)},${definition.version},`;
  }

  /** An empty table whose indexes take the slots from `firstSlot` on. */
  static empty<R extends Stamps, I extends string>(
    definition: TableDefinition<R, I>,
    firstSlot: number,
  ): Table<R, I> {
    const rows = new PrimaryRows<R>();
    const secondary: Secondary<R>[] = [];
    const definitions = Object.entries<IndexDefinition<R>>(definition.indexes);
    for (const [name, { key, touch, scopeParts, sharesKeys = false }] of definitions) {
      const slot = firstSlot + 1 + secondary.length;
      const index = new OrderedIndex(
        { slot, touch, scopeParts, sharesKeys },
        sharesKeys ? secondary.at(-1)!.index.rows : new SecondaryRows(rows),
      );
      secondary.push({ name, key, index, sharesKeys, texts: new LastText() });
    }
    const { scopeParts } = definition;
    return new Table(
      definition,
      new OrderedIndex<R>({ slot: firstSlot, scopeParts }, rows),
      secondary,
    );
  }

  clone(): Table<R, I> {
    const rows = this.primary.rows.clone();
    assert(rows instanceof PrimaryRows, 'the primary index has the rows');
    const secondary: Secondary<R>[] = [];
    for (const one of this.secondary) {
      const { index, sharesKeys } = one;
      const shared = sharesKeys ? secondary.at(-1)!.index.rows : index.rows.clone(rows);
      secondary.push({ ...one, index: index.clone(shared) });
    }
    return new Table(this.definition, this.primary.clone(rows), secondary);
  }

  get size(): number {
    return this.primary.size;
  }

  get(...key: Key): R | undefined {
    return this.primary.get(encodeKey(key));
  }

  has(...key: Key): boolean {
    return this.get(...key) !== undefined;
  }

  scan(options?: ScanOptions): IterableIterator<R> {
    return this.primary.scan(options);
  }

  find(range: KeyRange, matches?: (row: R) => boolean): R | undefined {
    return this.primary.find(range, matches);
  }

  lastIndex(range?: KeyRange): number {
    return this.primary.lastIndex(range);
  }

  by(index: I): RangeReader<R> {
    return this.index(index);
  }

  index(name: I): OrderedIndex<R> {
    for (const one of this.secondary) if (one.name === name) return one.index;
    assert(false, `the table ${this.definition.name} has no index ${name}`);
  }

  /** Replaces the row at `key`, which is `before`. Without `after`, the row is deleted. */
  replace(key: string, before: R | undefined, after: R | undefined, transaction: Stepping): void {
    if (after !== undefined) this.primary.set('', key, { before, after }, transaction);
    else if (before !== undefined) this.primary.remove('', key, before, transaction);
    let from: string | undefined;
    let to: string | undefined;
    let parts: Key | undefined;
    for (const { key: keyOf, index: order, sharesKeys, texts } of this.secondary) {
      if (!sharesKeys) {
        from = before === undefined ? undefined : texts.of(keyOf(before));
        const toParts = after === undefined ? undefined : keyOf(after);
        // Neighbours may have the same groups: a text that was compared once is compared faster.
        const isSame = to !== undefined && hasSameParts(toParts ?? [], parts ?? []);
        if (!isSame) to = texts.of(toParts);
        parts = toParts;
      }
      if (before !== undefined && from !== undefined && from !== to) {
        order.remove(from, key, before, transaction);
      }
      if (after !== undefined && to !== undefined) {
        order.set(to, key, { before: from === to ? before : undefined, after }, transaction);
      }
    }
  }

  /**
   * Calls `visit` for each place in an index that is watched where the change moved `lastIndex` of the ranges around it.
   * `watched`: by slot of the index.
   */
  visitMoves({ before, after }: Replaced<R>, watched: readonly boolean[], visit: Visit): void {
    const { slot } = this.primary;
    if (watched[slot] === true && this.primary.isMoved(before, after)) visit(slot, '');
    for (const { key: keyOf, index } of this.secondary) {
      if (watched[index.slot] !== true) continue;
      const from = before === undefined ? undefined : groupOf(keyOf(before));
      const to = after === undefined ? undefined : groupOf(keyOf(after));
      if (from !== undefined && from !== to) visit(index.slot, from);
      const isMoved = to !== undefined && (from !== to || index.isMoved(before, after));
      if (isMoved) visit(index.slot, to);
    }
  }

  /**
   * Makes the deferred changes of the indexes with more than `max` of them: of one of them, so that it does not take
   * long, and of all that have twice as many.
   */
  settleBeyond(max: number): void {
    let hasSettled = false;
    for (const { index } of this.secondary) {
      if (index.settleBeyond(hasSettled ? 2 * max : max)) hasSettled = true;
    }
  }

  /** Drops the oldest marks of every index that has more than `limit` marks. */
  prune(limit: number): void {
    this.primary.prune(limit);
    for (const { index } of this.secondary) index.prune(limit);
  }
}

/** Makes texts of keys, and makes none again for the key that it was asked for last. */
class LastText {
  #parts: Key = [];
  #text = '';

  of(parts: Key | undefined): string | undefined {
    if (parts === undefined) return undefined;
    if (!hasSameParts(parts, this.#parts)) {
      this.#text = encodeKey(parts);
      this.#parts = parts;
    }
    return this.#text;
  }
}

const groupOf = (parts: Key | undefined): string | undefined =>
  parts === undefined ? undefined : encodeKey(parts);
