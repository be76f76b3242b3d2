import { StateCorrupted } from './errors.ts';
import type { Form } from './form.ts';
import { decodeKey } from './keys.ts';
import type { OrderedIndex } from './ordered-index.ts';
import type { RowChange } from './row-change.ts';
import { type SharedHolders, SharedWriter } from './shared-values.ts';
import type { AnyTable } from './table.ts';
import type { SavedState, Stamps } from './types.ts';
import type { View } from './view.ts';

/**
 * The durable form: JSON, the same on every engine.
 *
 * A batch is `[transaction, ...]`; a transaction is `[index, entry, ...]`; an entry is
 * `[table, version, key parts, row]`, or without the row if it was deleted. Entries are in the order of
 * the changes. They hold the rows after the changes, never the commands.
 *
 * `shared-values.ts` has the form of values that rows share, `alike-rows.ts` that of rows that are alike.
 *
 * A snapshot is a sequence of parts, each a `SnapshotPart`; the first is a `SnapshotHead`.
 */
export type Entry = readonly [
  table: string,
  version: number,
  key: readonly string[],
  row?: unknown,
];
export type TransactionForm = readonly [index: number, ...entries: Entry[]];

interface SnapshotHead {
  readonly Index: number;
  /** Hash of the last batch that it covers, if hashes are kept. */
  readonly Hash?: string | undefined;
  /** Index of the last restore, if there was one. */
  readonly Restored?: number | undefined;
  /** Time of the last batch that was known when it was saved, where several processes hold the log. */
  readonly Time?: number | undefined;
}

export interface SnapshotRows {
  readonly Table: string;
  readonly Version: number;
  readonly Rows: readonly unknown[];
}

export interface SnapshotMarks {
  readonly Table: string;
  readonly Version: number;
  /** Name of the secondary index; '' is the primary index. */
  readonly Order: string;
  readonly Floor: number;
  readonly Marks: readonly (readonly [key: readonly string[], index: number])[];
}

export type SnapshotPart = SnapshotHead | SnapshotRows | SnapshotMarks;

export function encodeTransaction(
  index: number,
  changes: readonly RowChange[],
  { holders, form }: { readonly holders: SharedHolders; readonly form?: Form | undefined },
): string {
  // Joined at the end into a text of one piece: it may wait for the log, and each collection would copy many pieces.
  const texts = [`[${index}`];
  const values = new SharedWriter(form, holders);
  for (const { table, key, before, after } of changes) {
    texts.push(
      ',',
      form === undefined ? table.entryHead : form.entryHead(table),
      JSON.stringify(key),
    );
    if (after === undefined) texts.push(']');
    else texts.push(',', values.write(table, after, before), ']');
  }
  values.end();
  texts.push(']');
  return texts.join('');
}

/** The bytes of a batch, alone in their buffer, so that it may be transferred. */
export function encodeBatch(transactions: readonly { readonly text: string }[]): Bytes {
  const texts = transactions.map(({ text }) => text);
  return encodeTexts('[', texts, ']');
}

export type Bytes = Uint8Array<ArrayBuffer>;

const between = ',\n';

/** Writes text by text, since joining them first would copy all of them twice more. */
function encodeTexts(head: string, texts: readonly string[], tail: string): Bytes {
  let length = Buffer.byteLength(head) + Buffer.byteLength(tail);
  for (const text of texts) length += Buffer.byteLength(text) + between.length;
  if (texts.length > 0) length -= between.length;
  const bytes = Buffer.from(new ArrayBuffer(length));
  let end = bytes.write(head);
  for (const [position, text] of texts.entries()) {
    if (position > 0) end += bytes.write(between, end);
    end += bytes.write(text, end);
  }
  bytes.write(tail, end);
  return new Uint8Array(bytes.buffer);
}

/** @throws StateCorrupted */
export function parse(bytes: Bytes, place: string): unknown {
  const { buffer, byteOffset, byteLength } = bytes;
  try {
    return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
  } catch (error) {
    throw new StateCorrupted(place, 'its checksum holds, but it is not JSON', error);
  }
}

/**
 * Yields the parts of a snapshot of the view, each about `partBytes` long. Between them it yields
 * `undefined` where the caller may pause.
 */
export function* encodeSnapshot(
  view: View,
  partBytes: number,
  { form, ...head }: Pick<SnapshotHead, 'Hash' | 'Time'> & { form?: Form | undefined } = {},
): Generator<Bytes | undefined> {
  const Restored = view.restored || undefined;
  const start: SnapshotHead = { Index: view.index, Hash: head.Hash, Restored, Time: head.Time };
  yield encodeTexts(JSON.stringify(start), [], '');
  for (const table of view.tables.values()) {
    if (isOmitted(table, form)) continue;
    yield* encodeRows(table, partBytes, form);
    const head = headOf(table, form);
    for (const { name, index } of ordersOf(table)) {
      const order = `${head},"Order":${JSON.stringify(name)},"Floor":${index.floor},"Marks":[`;
      yield* inParts(order, marksOf(index), partBytes);
    }
  }
}

/** Whether a snapshot leaves the table out: nothing was ever in it, or some reader does not know it. */
const isOmitted = (table: AnyTable, form: Form | undefined): boolean =>
  (table.definition.isOmittedUnused === true && table.lastIndex() === 0) ||
  versionOf(table, form) === undefined;

const versionOf = (table: AnyTable, form: Form | undefined): number | undefined =>
  form === undefined ? table.definition.version : form.versionOf(table);

/** The rows of a table, each a `SnapshotRows`; `undefined` wherever others may get their turn. */
const encodeRows = (
  table: AnyTable,
  partBytes: number,
  form: Form | undefined,
): Generator<Bytes | undefined> =>
  inParts(`${headOf(table, form)},"Rows":[`, rowsOf(table, form), partBytes);

/** The view as it is saved outside the store. */
export function savedState({ index, tables }: View, form?: Form): SavedState {
  const saved = [...tables.values()].filter((table) => versionOf(table, form) !== undefined);
  return {
    index,
    tables: saved.map((table) => ({
      name: table.definition.name,
      version: versionOf(table, form)!,
      rows: table.size,
    })),
    *texts(bytes) {
      for (const table of saved) yield* encodeRows(table, bytes, form);
    },
  };
}

const headOf = (table: AnyTable, form: Form | undefined): string =>
  `{"Table":${JSON.stringify(table.definition.name)},"Version":${versionOf(table, form)}`;

function* rowsOf(table: AnyTable, form: Form | undefined): Generator<string> {
  const values = new SharedWriter(form);
  for (const row of (table.alike ?? table.primary).scan())
    yield values.write(table, row, undefined);
}

function* marksOf(index: OrderedIndex<Stamps>): Generator<string> {
  for (const [key, mark] of index.marks()) yield JSON.stringify([decodeKey(key), mark]);
}

/** Rows or marks between two pauses: few for short steps, enough to finish before the log is long again. */
const itemsPerStep = 128;

function* inParts(
  head: string,
  items: Iterable<string>,
  partBytes: number,
): Generator<Bytes | undefined> {
  let texts: string[] = [];
  let length = 0;
  for (const item of items) {
    texts.push(item);
    length += item.length;
    if (length < partBytes) {
      if (texts.length % itemsPerStep === 0) yield undefined;
      continue;
    }
    yield encodeTexts(head, texts, ']}');
    texts = [];
    length = 0;
  }
  yield encodeTexts(head, texts, ']}');
}

/** The indexes of a table by name; '' is the primary index. */
export function* ordersOf(
  table: AnyTable,
): Generator<{ name: string; index: OrderedIndex<Stamps> }> {
  yield { name: '', index: table.primary };
  yield* table.secondary;
}
