import { type Difference, difference, type Json, keep, keyOf, type Rows } from './difference.ts';

/**
 * The difference of two lists whose rows are given as JSON texts (`difference.ts`, D1 and D2). Only rows without an equal
 * text in the other list are parsed, so a change of a few rows of a long list costs little. `undefined`: they are equal.
 */
export function rowDifference(
  before: readonly string[],
  after: readonly string[],
): Difference | undefined {
  const placeOf = new Map(before.map((text, place) => [text, place]));
  const replaced = new Replaced(before, after);
  const rows: Rows[] = [];
  let isSame = before.length === after.length;
  for (const [at, text] of after.entries()) {
    const place = before[at] === text ? at : placeOf.get(text);
    if (place !== at) isSame = false;
    if (place === undefined) rows.push(replaced.changeTo(JSON.parse(text)));
    else keep(rows, place);
  }
  return isSame ? undefined : { rows };
}

/** The rows that are in the first list only. */
class Replaced {
  readonly #before: readonly string[];
  readonly #after: readonly string[];
  #byKey: Map<string, { readonly place: number; readonly row: Json }> | undefined;

  constructor(before: readonly string[], after: readonly string[]) {
    this.#before = before;
    this.#after = after;
  }

  /** The way to a row that is in the second list only. */
  changeTo(row: Json): Rows {
    this.#byKey ??= this.#parsed();
    const old = this.#byKey.get(keyOf(row));
    const found = old && difference(old.row, row);
    if (old === undefined || found === undefined || 'whole' in found) return ['new', row];
    return ['change', old.place, found];
  }

  #parsed() {
    const kept = new Set(this.#after);
    const byKey = new Map<string, { readonly place: number; readonly row: Json }>();
    for (const [place, text] of this.#before.entries()) {
      if (kept.has(text)) continue;
      const row: Json = JSON.parse(text);
      byKey.set(keyOf(row), { place, row });
    }
    return byKey;
  }
}
