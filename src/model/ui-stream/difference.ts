/**
 * Differences between two JSON values, so that a change of a long list costs as little as its changed rows.
 *
 * Invariants
 *  D1. `applied(before, difference(before, after))` equals `after`, whatever the two are.
 *  D2. Rows of a list are matched by their key and not by their place, so that a row that moves is not sent.
 *  D3. Applying keeps the parts that have not changed as they are, so that a reader can compare by identity.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** The way from one value to the next. */
export type Difference =
  /** Another value. */
  | { readonly whole: Json }
  /** Fields of an object. */
  | {
      readonly set?: Readonly<Record<string, Json>>;
      readonly in?: Readonly<Record<string, Difference>>;
      readonly unset?: readonly string[];
    }
  /** A list, made from the start to the end. */
  | { readonly rows: readonly Rows[] };

/** So many rows from this place of the old list; a row of the old list with a difference; a new row. */
export type Rows =
  | readonly ['keep', number, number]
  | readonly ['change', number, Difference]
  | readonly ['new', Json];

/** `undefined`: they are equal. */
export function difference(before: Json, after: Json): Difference | undefined {
  if (before === after) return undefined;
  if (isList(before) && isList(after)) return ofLists(before, after);
  if (isObject(before) && isObject(after)) return ofObjects(before, after);
  return { whole: after };
}

function ofObjects(before: JsonObject, after: JsonObject): Difference | undefined {
  const set: [string, Json][] = [];
  const inside: [string, Difference][] = [];
  const unset = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  for (const name of Object.keys(after)) {
    if (!Object.hasOwn(before, name)) {
      set.push([name, after[name]!]);
      continue;
    }
    const found = difference(before[name]!, after[name]!);
    if (found === undefined) continue;
    if ('whole' in found) set.push([name, found.whole]);
    else inside.push([name, found]);
  }
  if (set.length + inside.length + unset.length === 0) return undefined;
  return {
    ...(set.length > 0 && { set: Object.fromEntries(set) }),
    ...(inside.length > 0 && { in: Object.fromEntries(inside) }),
    ...(unset.length > 0 && { unset }),
  };
}

function ofLists(before: readonly Json[], after: readonly Json[]): Difference | undefined {
  const places = new Map(keysOf(before).map((key, place) => [key, place]));
  const rows: Rows[] = [];
  let isSame = before.length === after.length;
  for (const [at, key] of keysOf(after).entries()) {
    const row = after[at]!;
    const place = places.get(key);
    const found = place === undefined ? undefined : difference(before[place]!, row);
    if (place !== at || found !== undefined) isSame = false;
    if (place === undefined) rows.push(['new', row]);
    else if (found !== undefined)
      rows.push('whole' in found ? ['new', row] : ['change', place, found]);
    else keep(rows, place);
  }
  return isSame ? undefined : { rows };
}

/** Keeps one more row, beside the row before if that is kept too. */
export function keep(rows: Rows[], place: number): void {
  const last = rows.at(-1);
  if (last?.[0] === 'keep' && last[1] + last[2] === place) {
    rows[rows.length - 1] = ['keep', last[1], last[2] + 1];
  } else rows.push(['keep', place, 1]);
}

/** A key for each row, unique in its list. */
function keysOf(rows: readonly Json[]): string[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const key = keyOf(row);
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count === 1 ? key : `${key} ${count}`;
  });
}

/** The fields that name a record, the most telling first. */
const names = ['AccessorID', 'ID', 'Id', 'Name', 'Path', 'Key'] as const;
/** Fields that names are unique in. */
const scopes = ['Partition', 'Namespace', 'Kind'] as const;

/** The identity of a row; the whole row where it has no name. */
export function keyOf(row: Json): string {
  if (!isObject(row)) return JSON.stringify(row);
  const name = names.find((field) => typeof row[field] === 'string' && row[field] !== '');
  if (name === undefined) return JSON.stringify(row);
  const scope = scopes.map((field) => (typeof row[field] === 'string' ? row[field] : ''));
  return JSON.stringify([...scope, name, row[name]!]);
}

/** The value after a difference. Throws for a difference of another value. */
export function applied(before: Json, found: Difference): Json {
  if ('whole' in found) return found.whole;
  if ('rows' in found) {
    if (!isList(before)) throw new Error('a difference of rows needs a list');
    return found.rows.flatMap((part) => rowsOf(before, part));
  }
  if (!isObject(before)) throw new Error('a difference of fields needs an object');
  const gone = new Set(found.unset);
  const changed = Object.entries(found.in ?? {}).map(([name, inner]) => {
    if (!Object.hasOwn(before, name)) throw new Error(`the field ${name} is missing`);
    return [name, applied(before[name]!, inner)] as const;
  });
  // `fromEntries` also keeps a field with the name `__proto__` a field.
  return Object.fromEntries([
    ...Object.entries(before).filter(([name]) => !gone.has(name)),
    ...changed,
    ...Object.entries(found.set ?? {}),
  ]);
}

function rowsOf(before: readonly Json[], part: Rows): readonly Json[] {
  if (part[0] === 'new') return [part[1]];
  const [kind, from, what] = part;
  const count = kind === 'keep' ? (what as number) : 1;
  if (from < 0 || from + count > before.length) throw new Error('a row is missing');
  return kind === 'keep'
    ? before.slice(from, from + count)
    : [applied(before[from]!, what as Difference)];
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
