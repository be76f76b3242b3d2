import type { Authorizer } from '../acl/authorizer.ts';
import { limits } from '../model/limits.ts';
import { everyNamespace } from '../model/namespace/namespace.ts';
import type { Input, ListRun } from './route.ts';

export type Predicate = (record: unknown) => boolean;

export interface WalkOptions {
  readonly run: ListRun;
  readonly rows: Iterable<unknown>;
  readonly input: Input;
  readonly authorizer: Authorizer;
  readonly filter: Predicate | undefined;
  /** 0: no limit. */
  readonly perPage: number;
  /** The token of the page: the `nextKey` of the page before. `undefined`: the first page. */
  readonly from?: readonly string[] | undefined;
  /** Goes on after the page, to count the rows. */
  readonly counts?: boolean;
}

/** Walks through the rows of a page, some rows at a time. */
export interface Walk {
  /** The key of the first row of the next page. */
  readonly nextKey: readonly string[] | undefined;
  /** The number of rows on all pages, if they are counted and are not too many. */
  readonly total: number | undefined;
  /** Whether rows were left out because the caller may not see them. */
  readonly filteredByAcls: boolean;
  /** Looks at the next `count` rows and passes on those of the page. `true`: the page is complete. */
  go(count: number, take: (row: unknown) => void): boolean;
  /** The text of the record of a row, which `present` makes; absent: no texts are kept. */
  readonly textOf?: ((row: unknown, present: (row: unknown) => unknown) => string) | undefined;
}

/** Which rows the caller asks for, and may see. */
export class RowTest {
  readonly #options: Omit<WalkOptions, 'rows'>;
  readonly #permissionFor: ((row: unknown) => Parameters<Authorizer['allows']>[0]) | undefined;
  filteredByAcls = false;

  constructor(options: Omit<WalkOptions, 'rows'>) {
    this.#options = options;
    const { check } = options.run;
    const isChecked = !check?.acrossNamespaces || options.input.namespace === everyNamespace;
    this.#permissionFor = isChecked ? check?.permissionFor : undefined;
  }

  passes(row: unknown): boolean {
    const { run, input, authorizer, filter } = this.#options;
    const { matches, record } = run;
    if (matches !== undefined && !matches(row, input)) return false;
    if (this.#permissionFor !== undefined && !authorizer.allows(this.#permissionFor(row))) {
      this.filteredByAcls = true;
      return false;
    }
    return filter === undefined || filter(record === undefined ? row : record(row, input));
  }
}

/** The rows in their own order. */
export class ListWalk implements Walk {
  readonly #options: WalkOptions;
  readonly #rows: Iterator<unknown>;
  readonly #test: RowTest;
  #taken = 0;
  #looked = 0;
  #counted: number | undefined;
  nextKey: readonly string[] | undefined;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#rows = options.rows[Symbol.iterator]();
    this.#test = new RowTest(options);
    this.#counted = options.counts ? 0 : undefined;
  }

  get filteredByAcls(): boolean {
    return this.#test.filteredByAcls;
  }

  get total(): number | undefined {
    return this.#counted;
  }

  go(count: number, take: (row: unknown) => void): boolean {
    const { run, input, perPage } = this.#options;
    for (let looked = 0; looked < count; looked++) {
      const { done, value: row } = this.#rows.next();
      if (done === true) return true;
      if (this.#isTooMany() && this.nextKey !== undefined) return true;
      if (!this.#test.passes(row)) continue;
      if (this.#counted !== undefined) this.#counted++;
      if (this.nextKey !== undefined) continue;
      if (perPage > 0 && this.#taken === perPage) {
        this.nextKey = run.keyOf(row, input);
        if (this.#counted === undefined) return true;
        continue;
      }
      this.#taken++;
      take(row);
    }
    return false;
  }

  /** Beyond the bound nothing is counted. */
  #isTooMany(): boolean {
    if (this.#counted !== undefined && ++this.#looked > limits.list.sortedRowsMax) {
      this.#counted = undefined;
    }
    return this.#counted === undefined;
  }
}

/** A later page, after a count of the rows from the first page on. */
export class CountedWalk implements Walk {
  readonly #count: ListWalk;
  readonly #page: ListWalk;
  #isCounted = false;

  constructor(count: ListWalk, page: WalkOptions) {
    this.#count = count;
    this.#page = new ListWalk(page);
  }

  get nextKey(): readonly string[] | undefined {
    return this.#page.nextKey;
  }

  get total(): number | undefined {
    return this.#count.total;
  }

  get filteredByAcls(): boolean {
    return this.#page.filteredByAcls || this.#count.filteredByAcls;
  }

  go(count: number, take: (row: unknown) => void): boolean {
    if (this.#isCounted) return this.#page.go(count, take);
    this.#isCounted = this.#count.go(count, () => {});
    return false;
  }
}
