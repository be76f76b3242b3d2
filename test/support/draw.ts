/**
 * Draws rows of test tables that are too large for every run. `npm test -- --all`, and vitest by
 * itself, run all rows; `npm test` runs a tenth, drawn from the commit.
 */
import { createHash } from 'node:crypto';

const part = 10;

export function drawn<T extends { readonly name: string }>(
  rows: readonly T[],
  draw = process.env.TESTS_DRAW ?? 'all',
): readonly T[] {
  if (draw === 'all') return rows;
  const lot = ({ name }: T): string => createHash('sha256').update(`${draw} ${name}`).digest('hex');
  const byLot = rows.toSorted((left, right) => (lot(left) < lot(right) ? -1 : 1));
  const chosen = new Set(byLot.slice(0, Math.ceil(rows.length / part)));
  return rows.filter((row) => chosen.has(row));
}
