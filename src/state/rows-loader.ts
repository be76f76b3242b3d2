import type { SnapshotRows } from './codec.ts';
import { StateFormatUnknown } from './errors.ts';
import { SharedReader } from './shared-values.ts';
import type { AnyTable } from './table.ts';
import type { TableLoading } from './table-loading.ts';
import type { Stamps } from './types.ts';

/** Puts the stored rows of a snapshot into tables that are loaded, part by part. */
export class RowsLoader {
  readonly #ready: (row: Stamps) => Stamps;
  readonly #check: ((table: TableLoading, row: unknown) => void) | undefined;
  /** Readers of the shared values, by table. */
  readonly #shared = new Map<TableLoading, SharedReader>();

  /** `ready` prepares each row, which `check` has let pass. */
  constructor(ready: (row: Stamps) => Stamps, check?: (table: TableLoading, row: unknown) => void) {
    this.#ready = ready;
    this.#check = check;
  }

  /** Returns the table of the rows. @throws StateCorrupted, StateFormatUnknown */
  load(tables: Loadings, { Table, Version, Rows }: SnapshotRows): TableLoading {
    const table = knownTable(tables, Table, Version);
    const values = this.#shared.get(table) ?? new SharedReader();
    this.#shared.set(table, values);
    for (const stored of Rows) {
      const read = values.read(table, stored, undefined, 'the snapshot');
      const row = liftedRow(table, read, Version);
      this.#check?.(table, row);
      table.restoreRow(this.#ready(row));
    }
    return table;
  }

  /** Forgets the shared values, as all parts have come. */
  end(): void {
    this.#shared.clear();
  }
}

/** Tables that are loaded, by name. */
export type Loadings = ReadonlyMap<string, TableLoading>;

/** The stored row in the current version of its table. @throws StateFormatUnknown */
export function liftedRow({ definition }: Defined, stored: unknown, version: number): Stamps {
  const { name, version: newest, upcast } = definition;
  if (version === newest) return stored as Stamps;
  if (upcast === undefined) {
    throw new StateFormatUnknown(
      `the stored table ${name} has version ${version}; this program cannot lift it to ${newest}`,
    );
  }
  return upcast(stored, version);
}

/** A table, or one that is loaded. */
type Defined = Pick<AnyTable, 'definition'>;

/** @throws StateFormatUnknown for a table or a version that is not known here */
export function knownTable<T extends Defined>(
  tables: { get(name: string): T | undefined },
  name: string,
  version: number,
): T {
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
