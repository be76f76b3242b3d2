import { type AnyDefinition, Table } from '../table.ts';
import type { Losses } from './losses.ts';
import { legibleKey } from './row-fault.ts';

const text = '"(?:[^"\\\\]|\\\\.)*"';
const entryPattern = new RegExp(`\\[(${text}),\\d+,(\\[(?:${text}(?:,${text})*)?\\])`, 'g');
const tablePattern = new RegExp(`^\\{"Table":(${text})`);

/**
 * Names the rows of a damaged batch or part of a snapshot, as far as its bytes are legible. The bytes are not to be
 * trusted, and neither are the names.
 */
export function nameTorn(
  bytes: Uint8Array,
  definitions: readonly AnyDefinition[],
  losses: Losses,
): void {
  const content = Buffer.from(bytes).toString('utf8');
  const tables = new Map(definitions.map((one) => [one.name, Table.empty(one, 0)]));
  const uncertain = { index: undefined, isCertain: false } as const;
  for (const [, name = '', key = ''] of content.matchAll(entryPattern)) {
    const table = parsed(name);
    const parts = parsed(key);
    if (typeof table !== 'string' || !tables.has(table) || !Array.isArray(parts)) continue;
    losses.addRow({ table, key: parts, change: 'written', ...uncertain });
  }
  const name = parsed(tablePattern.exec(content)?.[1] ?? '');
  const table = typeof name === 'string' ? tables.get(name) : undefined;
  if (table === undefined) return;
  for (const record of recordsIn(content.slice(content.indexOf('[') + 1))) {
    const key = legibleKey(table, record);
    if (key.some((part) => part !== undefined)) {
      losses.addRow({ table: table.definition.name, key, change: 'written', ...uncertain });
    }
  }
}

/** The records of a list that can still be parsed. */
function* recordsIn(list: string): Generator<unknown> {
  let depth = 0;
  let start = 0;
  let isText = false;
  for (let at = 0; at < list.length; at++) {
    const letter = list[at];
    if (isText && letter === '\\') at++;
    else if (letter === '"') isText = !isText;
    else if (!isText && letter === '{' && depth++ === 0) start = at;
    else if (!isText && letter === '}' && --depth === 0) {
      const record = parsed(list.slice(start, at + 1));
      if (record !== undefined) yield record;
    }
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
