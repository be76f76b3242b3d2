import { encodeKey, encodeRange } from './keys.ts';
import type { OrderedIndex } from './ordered-index.ts';
import type { Table } from './table.ts';
import type {
  Footprint,
  Key,
  KeyRange,
  RangeReader,
  ScanOptions,
  Snapshot,
  Stamps,
  TableDefinition,
  TableReader,
} from './types.ts';
import { tableOf, type View } from './view.ts';

/**
 * The ranges that were read through a tracked snapshot, for each index: texts with which their keys
 * begin. For a single key it is the text of the whole key. The set holds no view, so that a parked
 * request keeps no old state alive.
 */
export class ReadSet implements Footprint {
  /** Index of the view that was read. */
  readonly viewIndex: number;
  /** The first range, without a set, since most requests read a single row. */
  #first: { readonly slot: number; readonly range: string } | undefined;
  #ranges: Map<number, Set<string>> | undefined;
  readonly #rangesPerIndex: number;
  #index = 1;

  constructor(viewIndex: number, rangesPerIndex: number) {
    this.viewIndex = viewIndex;
    this.#rangesPerIndex = rangesPerIndex;
  }

  get index(): number {
    return this.#index;
  }

  /** The ranges, by the slot of their index. */
  get ranges(): ReadonlyMap<number, ReadonlySet<string>> {
    return this.#collected();
  }

  /** `row`: the row of the key. */
  noteKey<R extends Stamps>(order: OrderedIndex<R>, key: string, row: R | undefined): void {
    if (this.#isNew(order.slot, key)) this.#raiseIndex(order.lastIndexOfKey(key, row));
  }

  noteRange<R extends Stamps>(order: OrderedIndex<R>, prefix: string): void {
    if (this.#isNew(order.slot, prefix)) this.#raiseIndex(order.lastIndexUnder(prefix));
  }

  #raiseIndex(index: number): void {
    if (index > this.#index) this.#index = index;
  }

  #isNew(slot: number, range: string): boolean {
    if (this.#first === undefined && this.#ranges === undefined) {
      this.#first = { slot, range };
      return true;
    }
    const collected = this.#collected();
    const ranges = collected.get(slot);
    if (ranges === undefined) collected.set(slot, new Set([range]));
    else if (ranges.has(range)) return false;
    else if (ranges.has('')) return true;
    else if (ranges.size < this.#rangesPerIndex) ranges.add(range);
    // Too many ranges become the whole index: waking too often is slow, waking too seldom would be wrong.
    else collected.set(slot, new Set(['']));
    return true;
  }

  #collected(): Map<number, Set<string>> {
    if (this.#ranges === undefined) {
      const first = this.#first;
      this.#ranges = new Map(first && [[first.slot, new Set([first.range])]]);
    }
    return this.#ranges;
  }
}

/** A view that notes its reads in `reads`. */
export class TrackedSnapshot implements Snapshot {
  readonly #view: View;
  readonly #reads: ReadSet;

  constructor(view: View, reads: ReadSet) {
    this.#view = view;
    this.#reads = reads;
  }

  get index(): number {
    return this.#view.index;
  }

  table<R extends Stamps, I extends string>(definition: TableDefinition<R, I>): TableReader<R, I> {
    return new TrackedTable(tableOf(this.#view.tables, definition), this.#reads);
  }
}

class TrackedIndex<R extends Stamps> implements RangeReader<R> {
  readonly #order: OrderedIndex<R>;
  readonly #reads: ReadSet;

  constructor(order: OrderedIndex<R>, reads: ReadSet) {
    this.#order = order;
    this.#reads = reads;
  }

  scan(options?: ScanOptions): IterableIterator<R> {
    this.#reads.noteRange(this.#order, encodeRange(options));
    return this.#order.scan(options);
  }

  find(range: KeyRange, matches?: (row: R) => boolean): R | undefined {
    this.#reads.noteRange(this.#order, encodeRange(range));
    return this.#order.find(range, matches);
  }

  lastIndex(range?: KeyRange): number {
    this.#reads.noteRange(this.#order, encodeRange(range));
    return this.#order.lastIndex(range);
  }
}

class TrackedTable<R extends Stamps, I extends string>
  extends TrackedIndex<R>
  implements TableReader<R, I>
{
  readonly #table: Table<R, I>;
  readonly #tableReads: ReadSet;

  constructor(table: Table<R, I>, reads: ReadSet) {
    super(table.primary, reads);
    this.#table = table;
    this.#tableReads = reads;
  }

  get size(): number {
    this.#tableReads.noteRange(this.#table.primary, '');
    return this.#table.size;
  }

  get(...parts: Key): R | undefined {
    const { primary } = this.#table;
    const key = encodeKey(parts);
    const row = primary.get(key);
    this.#tableReads.noteKey(primary, key, row);
    return row;
  }

  has(...parts: Key): boolean {
    return this.get(...parts) !== undefined;
  }

  by(index: I): RangeReader<R> {
    return new TrackedIndex(this.#table.index(index), this.#tableReads);
  }
}
