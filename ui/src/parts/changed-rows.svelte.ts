/** Which rows have just changed, for the mark in the table. Rows of the first answer, and rows that only moved, have not. */

import { untrack } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';

/** Not in limits: as long as the mark fades, by Table.svelte. */
const markMs = 1600;
/** More changes at a time are no news of single rows. */
const marksMax = 40;

export function changedRows<Row>(
  rows: () => readonly Row[],
  of: { readonly key: (row: Row) => string; readonly revision: (row: Row) => string | number },
): { has(key: string): boolean } {
  const marked = new SvelteSet<string>();
  let before: ReadonlyMap<string, string | number> = new Map();
  $effect(() => {
    const now = new Map(rows().map((row) => [of.key(row), of.revision(row)]));
    const changed = [...now].filter(
      ([key, revision]) => before.size > 0 && before.get(key) !== revision && before.has(key),
    );
    before = now;
    if (changed.length === 0 || changed.length > marksMax) return;
    untrack(() => mark(changed.map(([key]) => key)));
  });
  function mark(keys: readonly string[]): void {
    for (const key of keys) marked.add(key);
    setTimeout(() => {
      for (const key of keys) marked.delete(key);
    }, markMs);
  }
  return marked;
}
