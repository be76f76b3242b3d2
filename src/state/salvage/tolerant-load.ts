import {
  type Bytes,
  type Entry,
  parse,
  type SnapshotPart,
  type SnapshotRows,
  type TransactionForm,
} from '../codec.ts';
import type { Batch } from '../engine/engine.ts';
import type { Legible } from '../engine/salvage/examined-store.ts';
import { StateFormatUnknown } from '../errors.ts';
import { hasSameParts } from '../keys.ts';
import { restoreIn } from '../restore-entry.ts';
import { knownTable, type Loadings, liftedRow } from '../rows-loader.ts';
import { SharedReader } from '../shared-values.ts';
import type { AnyDefinition } from '../table.ts';
import { loadingsOf, type TableLoading } from '../table-loading.ts';
import type { Stamps } from '../types.ts';
import { emptyTables, type Tables, View } from '../view.ts';
import { Losses } from './losses.ts';
import { legibleKey, rowFault } from './row-fault.ts';
import { nameTorn } from './torn-names.ts';

/** The state as far as it can be read, and what is lost of it. */
export interface Salvaged {
  readonly view: View;
  readonly losses: Losses;
}

/**
 * Reads a damaged store.
 *
 * Invariants
 *  L1. A row is only in the result if its newest form is certain. A row that was written as a difference from a row
 *      that is lost is lost as well.
 *  L2. Batches are applied up to the first that is missing, so that without damage to the snapshot the result is a
 *      state that once was.
 *  L3. Every row of the state before the damage is in the result, or is named, or is of a piece that is named.
 *
 * @throws StateFormatUnknown
 */
export function loadTolerantly(legible: Legible, definitions: readonly AnyDefinition[]): Salvaged {
  const loader = new TolerantLoader(legible, definitions);
  loader.loadSnapshot();
  loader.loadLog();
  return loader.end();
}

class TolerantLoader {
  readonly #legible: Legible;
  readonly #definitions: readonly AnyDefinition[];
  readonly #losses = new Losses();
  #tables: Tables;
  #loadings: Loadings;
  /** Readers of the rows of a snapshot, by table. */
  #readers = new Map<TableLoading, SharedReader>();
  #index: number;

  constructor(legible: Legible, definitions: readonly AnyDefinition[]) {
    this.#legible = legible;
    this.#definitions = definitions;
    this.#tables = emptyTables(definitions);
    this.#loadings = loadingsOf(this.#tables);
    this.#index = legible.snapshotIndex;
  }

  loadSnapshot(): void {
    const { isRecorded, snapshotIndex } = this.#legible;
    for (const at of this.#legible.missingParts()) {
      this.#losses.addPiece({ at, toIndex: snapshotIndex });
    }
    let last: SnapshotPart | undefined;
    for (const bytes of this.#legible.parts()) {
      last = bytes && (parse(bytes, 'the snapshot') as SnapshotPart);
      if (last === undefined) for (const reader of this.#readers.values()) reader.skip();
      else if ('Rows' in last) this.#loadRows(last, snapshotIndex);
    }
    if (!isRecorded && !this.#isLastPart(last)) {
      const at = `the end of the snapshot at index ${snapshotIndex}`;
      this.#losses.addPiece({ at, toIndex: snapshotIndex });
    }
    this.#readers.clear();
  }

  loadLog(): void {
    let isCut = false;
    for (const batch of this.#legible.batches()) {
      isCut ||= !this.#loadBatch(batch);
      if (isCut) this.#nameBatch(batch);
    }
    const end = this.#index;
    for (const at of this.#legible.missingBatches()) {
      this.#losses.addPiece({ at, fromIndex: end + 1 });
    }
    for (const batch of this.#legible.cut()) this.#nameBatch(batch);
    if (!this.#legible.isEndKnown) {
      this.#losses.addPiece({ at: 'the end of the log, which is not known', fromIndex: end + 1 });
    }
  }

  end(): Salvaged {
    if (!this.#legible.isMarkKnown) {
      this.#losses.addPiece({ at: 'the seal of the store, if its state was moved elsewhere' });
    }
    if (!this.#losses.isEmpty) {
      for (const bytes of this.#legible.torn()) nameTorn(bytes, this.#definitions, this.#losses);
    }
    for (const loading of this.#loadings.values()) loading.end();
    return { view: new View(this.#index, this.#tables), losses: this.#losses };
  }

  /** Whether no rows follow the part: it has marks, and the tables after it are left out while they have no rows. */
  #isLastPart(part: SnapshotPart | undefined): boolean {
    if (part === undefined || !('Marks' in part)) return false;
    const at = this.#definitions.findIndex(({ name }) => name === part.Table);
    return this.#definitions.slice(at + 1).every((one) => one.isOmittedUnused === true);
  }

  #loadRows({ Table, Version, Rows }: SnapshotRows, index: number): void {
    const table = knownTable(this.#loadings, Table, Version);
    const values = this.#readers.get(table) ?? new SharedReader();
    this.#readers.set(table, values);
    for (const stored of Rows) {
      const row = this.#rowOf(table, Version, index, () =>
        values.read(table, stored, undefined, 'the snapshot'),
      );
      const key = row && table.definition.key(row);
      if (key !== undefined && table.at(key) === undefined) table.put(key, row);
      else this.#loseRow(table, stored, values);
    }
  }

  #loseRow(table: TableLoading, stored: unknown, values: SharedReader): void {
    const { ModifyIndex: index } = (stored ?? {}) as Partial<Stamps>;
    const key = legibleKey(table, stored);
    const { name } = table.definition;
    this.#losses.addRow({ table: name, key, index, change: 'written', isCertain: true });
    values.skip();
  }

  /** Returns `false` if the batch is illegible as a whole. Then nothing of it is applied. */
  #loadBatch(batch: Batch): boolean {
    const at = `the batch from index ${batch.firstIndex}`;
    const restore = restoreIn(batch.bytes, at);
    if (restore !== undefined) {
      this.#tables = emptyTables(this.#definitions);
      this.#loadings = loadingsOf(this.#tables);
      for (const text of restore.texts) {
        this.#loadRows(parse(text, at) as SnapshotRows, batch.lastIndex);
      }
      this.#readers.clear();
    }
    const transactions = restore ? [restore.transaction] : transactionsIn(batch.bytes);
    if (transactions === undefined) return false;
    for (const [index, ...entries] of transactions) {
      const values = new SharedReader();
      for (const entry of entries) this.#apply(entry, index, values);
    }
    this.#index = batch.lastIndex;
    return true;
  }

  #apply([name, version, parts, stored]: Entry, index: number, values: SharedReader): void {
    const table = knownTable(this.#loadings, name, version);
    if (stored === undefined) {
      table.put(parts, undefined);
      return;
    }
    const before = table.at(parts);
    const row = this.#rowOf(table, version, index, () =>
      values.read(table, stored, before, `the transaction ${index}`),
    );
    if (row !== undefined && hasSameParts(table.definition.key(row), parts)) {
      table.put(parts, row);
      return;
    }
    table.put(parts, undefined);
    this.#losses.addRow({ table: name, key: parts, index, change: 'written', isCertain: true });
    values.skip();
  }

  /** The row in its newest version; `undefined`: it cannot be read, or does not fit its table. */
  #rowOf(
    table: TableLoading,
    version: number,
    index: number,
    read: () => unknown,
  ): Stamps | undefined {
    try {
      const row = liftedRow(table, read(), version);
      return rowFault(table, row, index) === undefined ? row : undefined;
    } catch (error) {
      if (error instanceof StateFormatUnknown) throw error;
      return undefined;
    }
  }

  /** Names the rows of a batch that is cut off. */
  #nameBatch({ bytes, firstIndex, lastIndex }: Batch): void {
    const at = `the batch from index ${firstIndex} to ${lastIndex}`;
    const isRestore = restoreIn(bytes, at) !== undefined;
    const transactions = isRestore ? undefined : transactionsIn(bytes);
    if (transactions === undefined) {
      const name = isRestore ? `${at}, which is a restore` : at;
      this.#losses.addPiece({ at: name, fromIndex: firstIndex, toIndex: lastIndex });
    }
    for (const [index, ...entries] of transactions ?? []) {
      for (const [table, , key, stored] of entries) {
        const change = stored === undefined ? 'deleted' : 'written';
        this.#losses.addRow({ table, key, index, change, isCertain: true });
      }
    }
  }
}

const transactionsIn = (bytes: Bytes): readonly TransactionForm[] | undefined =>
  parsedOr(bytes) as readonly TransactionForm[] | undefined;

/** `undefined`: it is not JSON. */
function parsedOr(bytes: Bytes): unknown {
  try {
    return parse(bytes, '');
  } catch {
    return undefined;
  }
}
