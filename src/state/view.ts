import { assert } from '../base/assert.ts';
import type { OrderedIndex } from './ordered-index.ts';
import type { AnyDefinition, AnyTable } from './table.ts';
import { Table } from './table.ts';
import type { Snapshot, Stamps, TableDefinition, TableReader } from './types.ts';

export type Tables = ReadonlyMap<string, AnyTable>;

/** Empty tables. Each of their indexes has its own slot. */
export function emptyTables(definitions: readonly AnyDefinition[]): Map<string, AnyTable> {
  const tables = new Map<string, AnyTable>();
  let slot = 0;
  for (const definition of definitions) {
    assert(!tables.has(definition.name), `two tables have the name ${definition.name}`);
    tables.set(definition.name, Table.empty<Stamps, string>(definition, slot));
    slot += 1 + Object.keys(definition.indexes).length;
  }
  return tables;
}

/** The table of the definition. */
export function tableOf<R extends Stamps, I extends string>(
  tables: Tables,
  definition: TableDefinition<R, I>,
): Table<R, I> {
  const table = tables.get(definition.name) as unknown as Table<R, I> | undefined;
  assert(table !== undefined, `the state has no table ${definition.name}`);
  return table;
}

/** A consistent view. Nothing changes its tables: the head works on clones of them. */
export class View implements Snapshot {
  readonly index: number;
  readonly tables: Tables;

  constructor(index: number, tables: Tables) {
    this.index = index;
    this.tables = tables;
  }

  table<R extends Stamps, I extends string>(definition: TableDefinition<R, I>): TableReader<R, I> {
    return tableOf(this.tables, definition);
  }

  /** Index of the last restore; 0: there was none. */
  get restored(): number {
    for (const { primary } of this.tables.values()) return primary.restored;
    return 0;
  }

  /** The index with the slot. */
  order(slot: number): OrderedIndex<Stamps> {
    for (const { primary, secondary } of this.tables.values()) {
      const position = slot - primary.slot;
      if (position === 0) return primary;
      if (position > 0 && position <= secondary.length) return secondary[position - 1]!.index;
    }
    assert(false, 'no index has that slot');
  }
}
