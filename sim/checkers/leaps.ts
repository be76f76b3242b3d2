/** The commit of a server that applied a snapshot in place of several commits. */
import type { Change, Stamps } from '../../src/state/types.ts';
import { rowKeyOf } from '../account.ts';
import { haveSameText } from './same-text.ts';

/** The rows after some commits that differ from those before, by table and key. */
type Differing = Map<string, { readonly before: Stamps | undefined; after: Stamps | undefined }>;

/** How the changes of the leap differ from the sum of the commits; `undefined`: in nothing. */
export function differenceOfLeap(
  commits: Iterable<readonly Change[]>,
  leap: readonly Change[],
): string | undefined {
  const expected = sumOf(commits);
  const found = sumOf([leap]);
  for (const [key, { after }] of expected) {
    const change = found.get(key);
    if (change === undefined) return `${shown(key)} did not change`;
    if (!haveSameText(change.after, after)) {
      return `${shown(key)} differs from the log`;
    }
  }
  for (const key of found.keys()) {
    if (!expected.has(key)) return `${shown(key)} changed, which the log does not say`;
  }
  return undefined;
}

function sumOf(commits: Iterable<readonly Change[]>): Differing {
  const rows: Differing = new Map();
  for (const changes of commits) {
    for (const { table, before, after } of changes) {
      const key = `${table}\0${rowKeyOf(table, (after ?? before)!)}`;
      const known = rows.get(key);
      if (known === undefined) rows.set(key, { before, after });
      else known.after = after;
    }
  }
  for (const [key, { before, after }] of rows) {
    // A restore may bring the same row back.
    if (before?.ModifyIndex === after?.ModifyIndex) rows.delete(key);
  }
  return rows;
}

const shown = (key: string): string => key.replaceAll('\0', '/');
