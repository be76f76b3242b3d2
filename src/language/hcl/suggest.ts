import { nearestNames } from '../filter/errors.ts';

/** The end of a message about an unknown name. The shortest names are similar to all names, so they get none. */
export function suggestion(name: string, known: readonly string[]): string {
  const [nearest] = name.length < 2 ? [] : nearestNames(name.slice(0, 64), known);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}
