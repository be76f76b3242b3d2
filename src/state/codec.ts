import { StateCorrupted, StateFormatUnknown } from './errors.ts';
import { decodeKey, encodeKey } from './keys.ts';
import type { OrderedIndex } from './ordered-index.ts';
import type { RowChange } from './row-change.ts';
import { type SharedHolders, SharedReader, SharedWriter } from './shared-values.ts';
import type { AnyTable } from './table.ts';
import type { Stamps } from './types.ts';
import type { Tables, View } from './view.ts';

/**
 * The durable form: JSON, the same on every engine.
 *
 * A batch is `[transaction, ...]`; a transaction is `[index, entry, ...]`; an entry is
 * `[table, version, key parts, row]`, without the row when it was deleted. Entries stand in the
 * order in which they were made and say what became of a row, never how.
 *
 * Values that rows share stand in them as `shared-values.ts` tells.
 *
 * A snapshot is a sequence of parts, each a `SnapshotPart`; the first is a `SnapshotHead`.
 */
type Entry = readonly [table: string, version: number, key: readonly string[], row?: unknown];
type TransactionForm = readonly [index: number, ...entries: Entry[]];

interface SnapshotHead {
  readonly Index: number;
}

interface SnapshotRows {
  readonly Table: string;
  readonly Version: number;
  readonly Rows: readonly unknown[];
}

interface SnapshotMarks {
  readonly Table: string;
  readonly Version: number;
  /** Name of the secondary index; '' is the primary one. */
  readonly Order: string;
  readonly Floor: number;
  readonly Marks: readonly (readonly [key: readonly string[], index: number])[];
}

type SnapshotPart = SnapshotHead | SnapshotRows | SnapshotMarks;

export function encodeTransaction(
  index: number,
  changes: readonly RowChange[],
  holders: SharedHolders,
): string {
  let text = `[${index}`;
  const values = new SharedWriter(holders);
  for (const { table, key, before, after } of changes) {
    text += `,${table.entryHead}${JSON.stringify(key)}`;
    text += after === undefined ? ']' : `,${values.write(table, after, before)}]`;
  }
  values.end();
  return `${text}]`;
}

/** The bytes of a batch, in a buffer of their own that may be transferred. */
export function encodeBatch(transactions: readonly { readonly text: string }[]): Bytes {
  const texts = transactions.map(({ text }) => text);
  return encodeTexts('[', texts, ']');
}

export type Bytes = Uint8Array<ArrayBuffer>;

const between = ',\n';

/** Text by text: one of them all would be copied twice more before it is bytes. */
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

function parse(bytes: Bytes, place: string): unknown {
  const { buffer, byteOffset, byteLength } = bytes;
  try {
    return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
  } catch (error) {
    throw new StateCorrupted(place, 'its checksum holds, but it is not JSON', error);
  }
}

/**
 * The parts of a snapshot of the view, one at a time, each about `partBytes` long; `undefined`
 * wherever others may get their turn.
 */
export function* encodeSnapshot(view: View, partBytes: number): Generator<Bytes | undefined> {
  yield encodeTexts(JSON.stringify({ Index: view.index } satisfies SnapshotHead), [], '');
  for (const table of view.tables.values()) {
    const head = `{"Table":${JSON.stringify(table.definition.name)},"Version":${table.definition.version}`;
    yield* inParts(`${head},"Rows":[`, rowsOf(table), partBytes);
    for (const { name, index } of ordersOf(table)) {
      const order = `${head},"Order":${JSON.stringify(name)},"Floor":${index.floor},"Marks":[`;
      yield* inParts(order, marksOf(index), partBytes);
    }
  }
}

function* rowsOf(table: AnyTable): Generator<string> {
  const values = new SharedWriter();
  for (const row of table.scan()) yield values.write(table, row, undefined);
}

function* marksOf(index: OrderedIndex<Stamps>): Generator<string> {
  for (const [key, mark] of index.marks()) yield JSON.stringify([decodeKey(key), mark]);
}

/** Few enough to be short, and enough that a snapshot of a busy server is done before its log is long. */
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

function* ordersOf(table: AnyTable): Generator<{ name: string; index: OrderedIndex<Stamps> }> {
  yield { name: '', index: table.primary };
  yield* table.secondary;
}

/**
 * Builds tables from what an engine loads: the parts of a snapshot in order, then the batches
 * after it in order.
 */
export class Loader {
  readonly #tables: Tables;
  readonly #marksPerIndex: number;
  readonly #ready: (row: Stamps) => Stamps;
  /** Indexes of the snapshot's tables whose marks it did not hold, or in another version. */
  readonly #unmarked = new Set<OrderedIndex<Stamps>>();
  /** Of the snapshot's rows, by table. */
  readonly #shared = new Map<AnyTable, SharedReader>();
  #index = 0;

  constructor(tables: Tables, marksPerIndex: number, ready: (row: Stamps) => Stamps) {
    this.#tables = tables;
    this.#marksPerIndex = marksPerIndex;
    this.#ready = ready;
    for (const table of tables.values()) table.beginLoading();
  }

  get index(): number {
    return this.#index;
  }

  snapshotPart(bytes: Bytes): void {
    const part = parse(bytes, 'the snapshot') as SnapshotPart;
    if ('Index' in part) this.#index = part.Index;
    else if ('Rows' in part) this.#rows(part);
    else this.#marks(part);
  }

  batch(bytes: Bytes): void {
    this.#closeSnapshot();
    const transactions = parse(bytes, `the batch after index ${this.#index}`) as TransactionForm[];
    for (const [index, ...entries] of transactions) this.#transaction(index, entries);
  }

  /** Call when all is loaded. */
  end(): void {
    this.#closeSnapshot();
    for (const table of this.#tables.values()) table.endLoading();
  }

  #rows({ Table, Version, Rows }: SnapshotRows): void {
    const table = this.#table(Table, Version);
    for (const { index } of ordersOf(table)) this.#unmarked.add(index);
    const values = this.#shared.get(table) ?? new SharedReader();
    this.#shared.set(table, values);
    for (const row of Rows) {
      values.read(table, row, undefined, 'the snapshot');
      table.restoreRow(this.#row(table, row, Version));
    }
  }

  #marks({ Table, Version, Order, Floor, Marks }: SnapshotMarks): void {
    const table = this.#table(Table, Version);
    // Marks are kept under keys as this version makes them; those of another say nothing.
    if (Version !== table.definition.version) return;
    for (const { name, index } of ordersOf(table)) {
      if (name !== Order) continue;
      index.restoreMarks(
        Floor,
        Marks.map(([key, mark]) => [encodeKey(key), mark]),
      );
      this.#unmarked.delete(index);
    }
  }

  /** An index that is new, or of a new version, may have lost any row before the snapshot. */
  #closeSnapshot(): void {
    for (const index of this.#unmarked) index.restoreMarks(this.#index, []);
    this.#unmarked.clear();
    this.#shared.clear();
  }

  #transaction(index: number, entries: readonly Entry[]): void {
    const place = `the transaction ${index}`;
    if (index !== this.#index + 1) throw new StateCorrupted(place, `it follows ${this.#index}`);
    const touched = new Set<AnyTable>();
    const values = new SharedReader();
    for (const [name, version, parts, stored] of entries) {
      const table = this.#table(name, version);
      const key = encodeKey(parts);
      const before = table.loaded(key);
      if (stored !== undefined) values.read(table, stored, before, place);
      const after = stored === undefined ? undefined : this.#row(table, stored, version);
      if (after !== undefined && encodeKey(table.definition.key(after)) !== key) {
        throw new StateCorrupted(place, `a row of ${name} does not have the key of its entry`);
      }
      table.replay(key, before, after, index);
      touched.add(table);
    }
    for (const table of touched) table.prune(this.#marksPerIndex);
    this.#index = index;
  }

  #table(name: string, version: number): AnyTable {
    const table = this.#tables.get(name);
    if (table === undefined) {
      throw new StateFormatUnknown(`the stored state has a table ${name}, which is not known here`);
    }
    const known = table.definition.version;
    if (version > known) {
      throw new StateFormatUnknown(
        `the stored table ${name} has version ${version}; this program knows up to ${known}`,
      );
    }
    return table;
  }

  #row(table: AnyTable, stored: unknown, version: number): Stamps {
    const { name, version: known, upcast } = table.definition;
    if (version === known) return this.#ready(stored as Stamps);
    if (upcast === undefined) {
      throw new StateFormatUnknown(
        `the stored table ${name} has version ${version}; nothing lifts it to ${known}`,
      );
    }
    return this.#ready(upcast(stored, version));
  }
}
