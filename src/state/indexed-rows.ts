import { GroupedKeys } from './grouped-keys.ts';
import { afterPrefix } from './keys.ts';
import { Tree } from './tree.ts';

/**
 * The rows of an index in the order of their texts. The text of a row is the text of its group, followed by its primary key.
 * Bounds of ranges are beginnings of such texts. The rows must not be changed while they are iterated.
 */
export interface IndexedRows<R> {
  readonly size: number;
  leastText(): string | undefined;
  greatestText(): string | undefined;
  /** The rows whose texts are from `least` on and below `end`. */
  values(least: string, end: string | undefined): IterableIterator<R>;
  /** The rows of {@link values}, the greatest text first. */
  valuesReversed(least: string, end: string | undefined): IterableIterator<R>;
  /** The rows of {@link values}; `undefined`: there are more than `most`. */
  few(least: string, end: string | undefined, most: number): R[] | undefined;
  /** Visits the rows whose texts begin with `prefix` until `take` returns `false`. */
  visitUnder(prefix: string, take: Take<R>): void;
}

/** Takes a row; `false`: it wants no more. */
type Take<R> = (row: R) => boolean;

/** The rows of a primary index, which has a single group without a text. */
export class PrimaryRows<R> implements IndexedRows<R> {
  readonly tree: Tree<R>;

  constructor(tree: Tree<R> = Tree.empty<R>()) {
    this.tree = tree;
  }

  clone(): PrimaryRows<R> {
    return new PrimaryRows(this.tree.clone());
  }

  /** The row of the primary key. */
  get(key: string): R | undefined {
    return this.tree.get(key);
  }

  /** Puts the row, or deletes the row of that key. */
  change(key: string, row: R | undefined): void {
    if (row === undefined) this.tree.delete(key);
    else this.tree.set(key, row);
  }

  get size(): number {
    return this.tree.size;
  }

  leastText(): string | undefined {
    return this.tree.leastKey();
  }

  greatestText(): string | undefined {
    return this.tree.greatestKey();
  }

  values(least: string, end: string | undefined): IterableIterator<R> {
    return this.tree.values(least, end);
  }

  valuesReversed(least: string, end: string | undefined): IterableIterator<R> {
    return this.tree.valuesReversed(least, end);
  }

  few(least: string, end: string | undefined, most: number): R[] | undefined {
    const rows: R[] = [];
    const isWhole = this.tree.visit(least, end, (_, row) => rows.push(row) <= most);
    return isWhole ? rows : undefined;
  }

  visitUnder(prefix: string, take: Take<R>): void {
    this.tree.visit(prefix, afterPrefix(prefix), (_, row) => take(row));
  }
}

/** The rows of a secondary index: it holds their primary keys, and finds the rows in the primary index. */
export class SecondaryRows<R> implements IndexedRows<R> {
  readonly keys: GroupedKeys;
  readonly #primary: PrimaryRows<R>;

  constructor(primary: PrimaryRows<R>, keys: GroupedKeys = GroupedKeys.empty()) {
    this.#primary = primary;
    this.keys = keys;
  }

  /** `primary`: the clone of the primary index. */
  clone(primary: PrimaryRows<R> = this.#primary.clone()): SecondaryRows<R> {
    return new SecondaryRows(primary, this.keys.clone());
  }

  /** The row of the primary key. */
  get(key: string): R | undefined {
    return this.#primary.get(key);
  }

  get size(): number {
    return this.keys.size;
  }

  leastText(): string | undefined {
    return this.keys.leastText();
  }

  greatestText(): string | undefined {
    return this.keys.greatestText();
  }

  *values(least: string, end: string | undefined): IterableIterator<R> {
    const rowAt = this.#primary.tree.finder();
    for (const key of this.keys.keys(least, end)) yield rowAt(key)!;
  }

  *valuesReversed(least: string, end: string | undefined): IterableIterator<R> {
    const rowAt = this.#primary.tree.finder();
    for (const key of this.keys.keysReversed(least, end)) yield rowAt(key)!;
  }

  few(least: string, end: string | undefined, most: number): R[] | undefined {
    const keys: string[] = [];
    if (!this.keys.visit(least, end, (key) => keys.push(key) <= most)) return undefined;
    const rowAt = this.#primary.tree.finder();
    return keys.map((key) => rowAt(key)!);
  }

  visitUnder(prefix: string, take: Take<R>): void {
    const rowAt = this.#primary.tree.finder();
    const takeKey = (key: string) => take(rowAt(key)!);
    if (this.keys.visitGroup(prefix, takeKey) !== undefined) return;
    this.keys.visit(prefix, afterPrefix(prefix), takeKey);
  }
}
