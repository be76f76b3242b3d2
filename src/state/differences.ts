import { encodeKey } from './keys.ts';
import type { RowChange } from './row-change.ts';
import type { Stamps } from './types.ts';
import type { View } from './view.ts';

/** The rows that differ between two views of the same tables, by table and key. */
export function differences(before: View, after: View): RowChange[] {
  const found: RowChange[] = [];
  for (const [name, table] of after.tables) {
    const { key: keyOf } = table.definition;
    const gone = new Map<string, Stamps>();
    for (const row of before.tables.get(name)?.scan() ?? []) gone.set(encodeKey(keyOf(row)), row);
    for (const row of table.scan()) {
      const key = keyOf(row);
      const text = encodeKey(key);
      const former = gone.get(text);
      gone.delete(text);
      const isSame = former?.ModifyIndex === row.ModifyIndex;
      if (!isSame) found.push({ table, key, before: former, after: row });
    }
    for (const row of gone.values()) {
      found.push({ table, key: keyOf(row), before: row, after: undefined });
    }
  }
  return found;
}
