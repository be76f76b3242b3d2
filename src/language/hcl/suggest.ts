import { nearestNames } from '../filter/errors.ts';

/** What to add to a sentence about an unknown name; the shortest names are like everything. */
export function suggestion(name: string, known: readonly string[]): string {
  const [nearest] = name.length < 2 ? [] : nearestNames(name.slice(0, 64), known);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}
