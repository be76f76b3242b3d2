/** Reads the server's part of a data directory, table by table. */
import { realWorld } from '../../src/base/ports-real.ts';
import { SqliteEngine } from '../../src/state/engine/sqlite.ts';
import type { StateLimits } from '../../src/state/limits.ts';
import { openState } from '../../src/state/state.ts';
import { allTables } from '../../src/state/tables.ts';
import type { State } from '../../src/state/types.ts';

/** The rows of each table, in the order of their keys. */
export type Rows = Readonly<Record<string, readonly object[]>>;

/** Opens the state in `directory` for `use`, and closes it. */
export async function withState<T>(
  directory: string,
  use: (state: State) => T | Promise<T>,
  limits: Partial<StateLimits> = {},
): Promise<T> {
  const state = await openState({
    tables: allTables,
    engine: new SqliteEngine({ directory }),
    timers: realWorld.timers,
    limits,
  });
  try {
    return await use(state);
  } finally {
    await state.close();
  }
}

export const readRows = (directory: string): Promise<Rows> =>
  withState(directory, (state) => {
    const view = state.read();
    const rows = allTables.map((table) => [table.name, [...view.table(table).scan()]]);
    return Object.fromEntries(rows) as Rows;
  });
