import { assert } from '../base/assert.ts';
import type { Steps } from '../base/steps.ts';
import { type Bytes, ordersOf, parse, type SnapshotRows, savedState } from './codec.ts';
import { StateCorrupted } from './errors.ts';
import type { TableVersions } from './form.ts';
import { type Loadings, RowsLoader } from './rows-loader.ts';
import { rowFault } from './salvage/row-fault.ts';
import type { AnyDefinition } from './table.ts';
import { loadingsOf, type TableLoading } from './table-loading.ts';
import type { SavedState, Stamps, StateDraft } from './types.ts';
import { emptyTables, type Tables, View } from './view.ts';

/**
 * The tables of a snapshot that is restored, built beside the current ones.
 *
 * Invariants
 *  D1. Nothing else sees its tables before the restore is durable.
 *  D2. Its rows keep their indexes. In its view every range and every key, with or without a row, counts as changed at
 *      the index of the restore: so the index of an answer never goes back.
 */
export class Draft implements StateDraft {
  readonly #tables: Tables;
  readonly #loadings: Loadings;
  readonly #loader: RowsLoader;
  readonly #versions: Record<string, number> = {};
  #isSettled = false;

  /** `ready` prepares each row. */
  constructor(definitions: readonly AnyDefinition[], ready: (row: Stamps) => Stamps) {
    this.#tables = emptyTables(definitions);
    this.#loader = new RowsLoader(ready, requireFit);
    this.#loadings = loadingsOf(this.#tables);
  }

  /** @throws StateCorrupted, StateFormatUnknown */
  add(text: Bytes): void {
    const rows = parse(text, 'the snapshot') as SnapshotRows;
    this.#loader.load(this.#loadings, rows);
    this.#versions[rows.Table] = rows.Version;
  }

  /** The versions in which its tables were stored. */
  get versions(): TableVersions {
    return this.#versions;
  }

  *settle(): Steps<void> {
    this.#loader.end();
    for (const loading of this.#loadings.values()) {
      loading.end();
      yield;
    }
    this.#isSettled = true;
  }

  counts(): SavedState['tables'] {
    return savedState(this.rows()).tables;
  }

  rows(): View {
    assert(this.#isSettled, 'a draft is read when all its rows are there');
    return new View(0, this.#tables);
  }

  /** The view before the transaction of the restore, which gets `index`. */
  viewBefore(index: number): View {
    assert(this.#isSettled, 'a draft is restored when all its rows are there');
    for (const table of this.#tables.values()) {
      for (const { index: order } of ordersOf(table)) order.restoreAt(index);
    }
    return new View(index - 1, this.#tables);
  }
}

/** Anybody may have made the rows of a file. @throws StateCorrupted */
function requireFit(table: TableLoading, row: unknown): void {
  const fault = rowFault(table, row, Number.MAX_SAFE_INTEGER);
  if (fault === undefined) return;
  throw new StateCorrupted(`a row of the table ${table.definition.name}`, fault);
}
