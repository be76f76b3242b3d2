import type { SnapshotRows } from './codec.ts';
import { StateFormatUnknown } from './errors.ts';
import { SharedReader } from './shared-values.ts';
import type { AnyTable } from './table.ts';
import type { Stamps } from './types.ts';
import type { Tables } from './view.ts';

/** Puts the stored rows of a snapshot into tables that are loaded, part by part. */
export class RowsLoader {
  readonly #ready: (row: Stamps) => Stamps;
  /** Readers of the shared values, by table. */
  readonly #shared = new Map<AnyTable, SharedReader>();

  /** `ready` prepares each row. */
  constructor(ready: (row: Stamps) => Stamps) {
    this.#ready = ready;
  }

  /** Returns the table of the rows. @throws StateCorrupted, StateFormatUnknown */
  load(tables: Pick<Tables, 'get'>, { Table, Version, Rows }: SnapshotRows): AnyTable {
    const table = knownTable(tables, Table, Version);
    const values = this.#shared.get(table) ?? new SharedReader();
    this.#shared.set(table, values);
    for (const stored of Rows) {
      const row = values.read(table, stored, undefined, 'the snapshot');
      table.restoreRow(this.#ready(liftedRow(table, row, Version)));
    }
    return table;
  }

  /** Forgets the shared values, as all parts have come. */
  end(): void {
    this.#shared.clear();
  }
}

/** The stored row in the current version of its table. @throws StateFormatUnknown */
export function liftedRow({ definition }: AnyTable, stored: unknown, version: number): Stamps {
  const { name, version: newest, upcast } = definition;
  if (version === newest) return stored as Stamps;
  if (upcast === undefined) {
    throw new StateFormatUnknown(
      `the stored table ${name} has version ${version}; this program cannot lift it to ${newest}`,
    );
  }
  return upcast(stored, version);
}

/** @throws StateFormatUnknown for a table or a version that is not known here */
export function knownTable(tables: Pick<Tables, 'get'>, name: string, version: number): AnyTable {
  const table = tables.get(name);
  if (table === undefined) {
    throw new StateFormatUnknown(
      `the stored state has a table ${name}, which this program does not know`,
    );
  }
  const newest = table.definition.version;
  if (version > newest) {
    throw new StateFormatUnknown(
      `the stored table ${name} has version ${version}; this program knows up to ${newest}`,
    );
  }
  return table;
}
