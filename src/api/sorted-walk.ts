import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { RowTest, type Walk, type WalkOptions } from './list-walk.ts';
import { directionOf, sortText } from './sort-order.ts';

export interface SortOrder {
  /** A field of the rows. */
  readonly field: string;
  readonly isDescending: boolean;
  /** The `nextKey` of the page before. */
  readonly from: readonly string[] | undefined;
}

interface Kept {
  readonly row: unknown;
  readonly key: readonly string[];
  readonly sortKey: string;
}

/**
 * A page of rows in the order of a field, and of their keys where it is equal. It looks at every row of the list and
 * keeps those of the page only.
 */
export class SortedWalk implements Walk {
  readonly #options: WalkOptions;
  readonly #order: SortOrder;
  readonly #rows: Iterator<unknown>;
  readonly #test: RowTest;
  readonly #from: string | undefined;
  /** In order: the rows of the page, and the first of the next page. */
  readonly #kept: Kept[] = [];
  #looked = 0;
  #shown = 0;
  #isComplete = false;
  total = 0;

  /** @throws RosterError `invalid-query` for the token of a page in another order */
  constructor(options: WalkOptions, order: SortOrder) {
    this.#options = options;
    this.#order = order;
    this.#rows = options.rows[Symbol.iterator]();
    this.#test = new RowTest(options);
    if (order.from === undefined) return;
    const [field, direction, ...key] = order.from;
    if (field !== order.field || direction !== directionOf(order.isDescending)) {
      const reason = 'must be the NextToken header of a page in the same order';
      throw refusal('invalid-query', { parameter: 'next_token', reason });
    }
    this.#from = key.join('\0');
  }

  get filteredByAcls(): boolean {
    return this.#test.filteredByAcls;
  }

  get nextKey(): readonly string[] | undefined {
    const next = this.#kept[this.#options.perPage];
    if (next === undefined || !this.#isComplete) return undefined;
    const value = next.sortKey.slice(0, next.sortKey.indexOf('\0'));
    return [this.#order.field, directionOf(this.#order.isDescending), value, ...next.key];
  }

  /** @throws RosterError `too-many-to-sort` */
  go(count: number, take: (row: unknown) => void): boolean {
    let left = count;
    for (; !this.#isComplete && left > 0; left--) {
      const { done, value: row } = this.#rows.next();
      if (done === true) {
        this.#isComplete = true;
        break;
      }
      const limit = limits.list.sortedRowsMax;
      if (++this.#looked > limit) throw refusal('too-many-to-sort', { limit });
      if (!this.#test.passes(row)) continue;
      this.total++;
      this.#keepRow(row);
    }
    if (!this.#isComplete) return false;
    const end = Math.min(this.#kept.length, this.#options.perPage);
    for (; left > 0 && this.#shown < end; left--) take(this.#kept[this.#shown++]!.row);
    return this.#shown === end;
  }

  #keepRow(row: unknown): void {
    const { run, input, perPage } = this.#options;
    const key = run.keyOf(row, input);
    const { field } = this.#order;
    const given = run.sortedBy
      ? run.sortedBy(row, field, input)
      : (row as Readonly<Record<string, unknown>>)[field];
    const value = sortText(given);
    const sortKey = [value, ...key].join('\0');
    if (this.#from !== undefined && this.#isBefore(sortKey, this.#from)) return;
    const kept = this.#kept;
    const last = kept.at(-1);
    const isFull = kept.length > perPage;
    if (isFull && !this.#isBefore(sortKey, last!.sortKey)) return;
    let [low, high] = [0, kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isBefore(kept[middle]!.sortKey, sortKey)) low = middle + 1;
      else high = middle;
    }
    kept.splice(low, 0, { row, key, sortKey });
    if (isFull) kept.pop();
  }

  #isBefore(left: string, right: string): boolean {
    return this.#order.isDescending ? left > right : left < right;
  }
}
