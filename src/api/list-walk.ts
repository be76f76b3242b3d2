import type { Authorizer } from '../acl/authorizer.ts';
import type { Permission } from '../model/permission/permission.ts';
import type { Input } from './route.ts';

export type Predicate = (record: unknown) => boolean;

/** What a list's route knows of its rows, their type forgotten; see `ListRun`. */
export interface RowFunctions {
  readonly matches?: (row: unknown, input: Input) => boolean;
  readonly visible?: (row: unknown) => Permission;
  readonly record?: (row: unknown, input: Input) => unknown;
  readonly reads?: (row: unknown, input: Input) => void;
  readonly keyOf: (row: unknown, input: Input) => readonly string[];
  readonly present: (row: unknown, input: Input) => unknown;
}

export interface WalkOptions {
  readonly row: RowFunctions;
  readonly rows: Iterable<unknown>;
  readonly input: Input;
  readonly authorizer: Authorizer;
  readonly filter: Predicate | undefined;
  /** 0: all. */
  readonly perPage: number;
  /** Whether the caller may see it is asked of every row. */
  readonly asksEach: boolean;
}

/** The way through the rows of one page, which can be gone part by part. */
export class ListWalk {
  readonly #options: WalkOptions;
  readonly #rows: Iterator<unknown>;
  #taken = 0;
  /** Key of the first row of the next page. */
  nextKey: readonly string[] | undefined;
  /** Some rows were left out because the caller may not see them. */
  filteredByAcls = false;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#rows = options.rows[Symbol.iterator]();
  }

  /** Looks at so many more rows and gives those that belong to the page. `true`: at the end. */
  go(count: number, take: (row: unknown) => void): boolean {
    const { row: of, input, authorizer, filter, perPage, asksEach } = this.#options;
    const { matches, record } = of;
    const visible = asksEach ? of.visible : undefined;
    for (let looked = 0; looked < count; looked++) {
      const { done, value: row } = this.#rows.next();
      if (done === true) return true;
      if (matches !== undefined && !matches(row, input)) continue;
      if (visible !== undefined && !authorizer.allows(visible(row))) {
        this.filteredByAcls = true;
        continue;
      }
      if (filter !== undefined && !filter(record === undefined ? row : record(row, input))) {
        continue;
      }
      if (perPage > 0 && this.#taken === perPage) {
        this.nextKey = of.keyOf(row, input);
        return true;
      }
      this.#taken++;
      take(row);
    }
    return false;
  }
}
