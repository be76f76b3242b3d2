/** Reads the server's part of a data directory, table by table. */
import { realWorld } from '../../src/base/ports-real.ts';
import { SqliteEngine } from '../../src/state/engine/sqlite.ts';
import { openState } from '../../src/state/state.ts';
import { allTables } from '../../src/state/tables.ts';

/** The rows of each table, in the order of their keys. */
export type Rows = Readonly<Record<string, readonly object[]>>;

export async function readRows(directory: string): Promise<Rows> {
  const state = await openState({
    tables: allTables,
    engine: new SqliteEngine({ directory }),
    timers: realWorld.timers,
  });
  try {
    const view = state.read();
    const rows = allTables.map((table) => [table.name, [...view.table(table).scan()]]);
    return Object.fromEntries(rows) as Rows;
  } finally {
    await state.close();
  }
}
