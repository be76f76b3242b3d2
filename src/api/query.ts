import { parseDuration } from '../base/duration.ts';
import type { QueryParameter, QueryTable, QueryValues } from '../contract/query.ts';
import { RosterError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

export interface QueryFault {
  readonly name: string;
  readonly message: string;
}

const truth: ReadonlyMap<string, boolean> = new Map([
  ...['', '1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

/** Parses the parameters in the table and ignores others. */
export function parseQuery<T extends QueryTable>(
  table: T,
  text: string,
): { values: QueryValues<T>; faults: QueryFault[] } {
  const kept = text === '' ? withoutQuery.get(table) : undefined;
  if (kept !== undefined) return kept as { values: QueryValues<T>; faults: QueryFault[] };
  const values: Record<string, unknown> = {};
  const faults: QueryFault[] = [];
  const given = text === '' ? undefined : new URLSearchParams(text);
  const spellings = given && spellingsIn(given);
  for (const { name, folded, parameter } of parametersOf(table)) {
    const key = given?.has(name) ? name : spellings?.get(folded);
    if (key !== undefined && given!.getAll(key).some((value) => value.includes('\0'))) {
      faults.push({ name, message: `${name} must not hold a NUL character` });
    } else if (parameter.kind === 'strings') {
      values[name] = key === undefined ? [] : given!.getAll(key);
    } else if (key === undefined || (parameter.emptyIsAbsent && given!.get(key) === '')) {
      values[name] = parameter.default;
      if (parameter.required) faults.push({ name, message: `${name} is required` });
    } else {
      const value = parseValue(parameter, given!.get(key)!);
      if (typeof value === 'object') faults.push({ name, message: `${name} ${value.must}` });
      else values[name] = value;
    }
  }
  const parsed = { values: values as QueryValues<T>, faults };
  if (text === '') withoutQuery.set(table, parsed);
  return parsed;
}

/** Most requests have no query, so that result is kept for each table. */
const withoutQuery = new WeakMap<QueryTable, { values: unknown; faults: QueryFault[] }>();

/** A parameter, and its name without the freedoms of spelling. */
interface Named {
  readonly name: string;
  readonly folded: string;
  readonly parameter: QueryParameter;
}

/** Of each table, since every request asks for them. */
const known = new WeakMap<QueryTable, readonly Named[]>();

function parametersOf(table: QueryTable): readonly Named[] {
  const before = known.get(table);
  if (before !== undefined) return before;
  const all = Object.entries(table).map(([name, parameter]) => {
    return { name, folded: foldedName(name), parameter };
  });
  known.set(table, all);
  return all;
}

const foldedName = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** The first spelling of each name in the query. */
function spellingsIn(given: URLSearchParams): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const key of given.keys()) {
    const folded = foldedName(key);
    if (!found.has(folded)) found.set(folded, key);
  }
  return found;
}

function parseValue(
  parameter: QueryParameter,
  text: string,
): string | boolean | number | { must: string } {
  switch (parameter.kind) {
    case 'boolean':
      return truth.get(text) ?? { must: `must be true or false, got "${clip(text)}"` };
    case 'integer': {
      const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = parameter;
      const number = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (number >= minimum && number <= maximum) return number;
      return { must: `must be an integer from ${minimum} to ${maximum}, got "${clip(text)}"` };
    }
    case 'index': {
      const index = /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
      if (index !== undefined && index <= greatestIndex) {
        return Math.min(Number(index), Number.MAX_SAFE_INTEGER);
      }
      return { must: `must be an integer from 0 to ${greatestIndex}, got "${clip(text)}"` };
    }
    case 'duration': {
      const nanoseconds = parseDuration(text);
      if (nanoseconds !== undefined && nanoseconds >= 0) return nanoseconds;
      return { must: `must be a duration such as 30s or 5m, got "${clip(text)}"` };
    }
    default: {
      const { lengthMax = limits.names.lengthMax } = parameter;
      if (text.length <= lengthMax) return text;
      return { must: `must have at most ${lengthMax} characters, and has ${text.length}` };
    }
  }
}

const greatestIndex = 2n ** 64n - 1n;

const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** The refusal of parameters with all their faults. */
export function queryRefusal(faults: readonly { name: string; message: string }[]): RosterError {
  const list = faults.map(({ name, message }) => ({ pointer: `?${name}`, message }));
  return new RosterError('invalid-query', list.map(({ message }) => message).join('; '), list);
}
