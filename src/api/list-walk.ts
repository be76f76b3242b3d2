import type { Authorizer } from '../acl/authorizer.ts';
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
}

/** Walks through the rows of one page, some rows at a time. */
export class ListWalk {
  readonly #options: WalkOptions;
  readonly #rows: Iterator<unknown>;
  #taken = 0;
  /** The key of the first row of the next page. */
  nextKey: readonly string[] | undefined;
  /** Whether rows were left out because the caller may not see them. */
  filteredByAcls = false;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#rows = options.rows[Symbol.iterator]();
  }

  /**
   * Looks at the next `count` rows and passes on those of the page. `true`: the page is complete.
   */
  go(count: number, take: (row: unknown) => void): boolean {
    const { run, input, authorizer, filter, perPage } = this.#options;
    const { matches, record, check } = run;
    const isChecked = !check?.acrossNamespaces || input.namespace === everyNamespace;
    const permissionFor = isChecked ? check?.permissionFor : undefined;
    for (let looked = 0; looked < count; looked++) {
      const { done, value: row } = this.#rows.next();
      if (done === true) return true;
      if (matches !== undefined && !matches(row, input)) continue;
      if (permissionFor !== undefined && !authorizer.allows(permissionFor(row))) {
        this.filteredByAcls = true;
        continue;
      }
      if (filter !== undefined && !filter(record === undefined ? row : record(row, input))) {
        continue;
      }
      if (perPage > 0 && this.#taken === perPage) {
        this.nextKey = run.keyOf(row, input);
        return true;
      }
      this.#taken++;
      take(row);
    }
    return false;
  }
}
