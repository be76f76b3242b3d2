import { compareText } from './btree.ts';
import { encodeKey } from './keys.ts';
import type { Key } from './types.ts';

/** Rows in the order of their keys; the two lists go together. */
export interface SortedRows<R> {
  readonly keys: string[];
  readonly rows: R[];
}

export function inOrder<R>(rowsByKey: ReadonlyMap<string, R>): SortedRows<R> {
  const entries = [...rowsByKey].sort(([left], [right]) => compareText(left, right));
  return { keys: entries.map(([key]) => key), rows: entries.map(([, row]) => row) };
}

/**
 * The rows of a secondary index: those that `partsOf` knows, by these parts and then by their
 * primary key. Rows with the same parts stand together and are in order among themselves as they
 * come, so that only the different parts have to be sorted, which are few.
 */
export function byParts<R>(
  all: SortedRows<R>,
  partsOf: (row: R) => Key | undefined,
): SortedRows<R> {
  const groups = new Map<string, number[]>();
  for (const [position, row] of all.rows.entries()) {
    const parts = partsOf(row);
    if (parts === undefined) continue;
    const text = encodeKey(parts);
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [position]);
    else group.push(position);
  }
  const texts = [...groups.keys()].sort(compareText);
  const keys: string[] = [];
  const rows: R[] = [];
  for (const text of texts) {
    for (const position of groups.get(text)!) {
      keys.push(text + all.keys[position]!);
      rows.push(all.rows[position]!);
    }
  }
  // Where some rows have more parts than others, these lie between the others' primary keys.
  return texts.some((text, at) => texts[at + 1]?.startsWith(text))
    ? inOrder(new Map(keys.map((key, at) => [key, rows[at]!])))
    : { keys, rows };
}
