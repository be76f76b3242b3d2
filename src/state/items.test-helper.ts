import fc from 'fast-check';
import { encodeKey, encodeRange } from './keys.ts';
import type { Key, KeyRange, Snapshot, Stamps, TableDefinition, Transaction } from './types.ts';

/** A row of the tests' table: a namespaced noun with four orders. */
export interface Item extends Stamps {
  readonly Space: string;
  readonly Name: string;
  readonly Color?: string;
  readonly Weight: number;
  /** Index at which `Weight` last changed. */
  readonly WeightIndex: number;
}

export type ItemOrder = 'color' | 'space' | 'weight';

export const items: TableDefinition<Item, ItemOrder> = {
  name: 'items',
  version: 1,
  key: (item) => [item.Space, item.Name],
  indexes: {
    color: { key: ({ Space, Color }) => (Color === undefined ? undefined : [Space, Color]) },
    space: { key: ({ Space }) => [Space] },
    weight: {
      sharesKeys: true,
      key: ({ Space }) => [Space],
      touch: ({ WeightIndex }) => WeightIndex,
    },
  },
};

/** A second table, which the scripts leave alone. */
export const others: TableDefinition<Item, never> = { ...items, name: 'others', indexes: {} };

export const tables = [items, others];

export function item(Name: string, more: Partial<Item> = {}): Omit<Item, keyof Stamps> {
  return { Space: 's', Name, Weight: 0, WeightIndex: 0, ...more };
}

export type Operation =
  | { readonly kind: 'put'; readonly key: readonly [string, string]; readonly color?: string }
  | { readonly kind: 'weigh'; readonly key: readonly [string, string]; readonly weight: number }
  | { readonly kind: 'delete'; readonly key: readonly [string, string] }
  | { readonly kind: 'clear'; readonly space: string };

/** The operations of a transaction, which may throw at its end. */
export interface Script {
  readonly operations: readonly Operation[];
  readonly throws: boolean;
}

const texts = ['', 'a', 'a\u0001', 'ab', 'b', 'é', '\uffff', '😀'];
const text = fc.constantFrom(...texts);
const key = fc.tuple(fc.constantFrom('', 's', 't'), text);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), key, color: text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('put' as const), key }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('weigh' as const), key, weight: fc.nat(2) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('clear' as const), space: fc.constantFrom('s', 't') }),
  },
);
export const script: fc.Arbitrary<Script> = fc.record({
  operations: fc.array(operation, { maxLength: 5 }),
  throws: fc.integer({ min: 0, max: 5 }).map((number) => number === 0),
});

/** Ranges that hold some of the arbitrary keys, in each of the orders. */
export const ranges: KeyRange[] = [
  {},
  ...texts.map((start) => ({ text: start })),
  ...['', 's', 't'].flatMap((space) => [
    { prefix: [space] },
    ...texts.map((start) => ({ prefix: [space], text: start })),
    ...texts.map((part) => ({ prefix: [space, part] })),
  ]),
];

export const orders = ['', 'color', 'space', 'weight'] as const;
export type Order = (typeof orders)[number];

export class ScriptFailure extends Error {}

/** Runs the script in a transaction of the state. */
export function runScript(transaction: Transaction, { operations, throws }: Script): void {
  const table = transaction.table(items);
  for (const operation of operations) {
    if (operation.kind === 'clear') {
      for (const row of table.scan({ prefix: [operation.space] }))
        table.delete(row.Space, row.Name);
    } else if (operation.kind === 'delete') table.delete(...operation.key);
    else table.put(rowOf(operation, table.get(...operation.key), transaction.index));
  }
  if (throws) throw new ScriptFailure();
}

function rowOf(
  operation: Extract<Operation, { kind: 'put' | 'weigh' }>,
  before: Item | undefined,
  index: number,
): Omit<Item, keyof Stamps> {
  const [Space, Name] = operation.key;
  const base = before ?? { Space, Name, Weight: 0, WeightIndex: index };
  if (operation.kind === 'weigh') {
    return { ...base, Weight: operation.weight, WeightIndex: index };
  }
  const { Color: _, ...rest } = base as Item;
  return operation.color === undefined ? rest : { ...rest, Color: operation.color };
}

interface Event {
  readonly index: number;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** The simplest model of a table: a map of rows, and a list of all changes. */
export class Oracle {
  index = 0;
  rows = new Map<string, Item>();
  events: Event[] = [];

  apply({ operations, throws }: Script): void {
    if (throws) return;
    const index = this.index + 1;
    const known = this.events.length;
    for (const operation of operations) {
      if (operation.kind === 'clear') {
        for (const row of [...this.rows.values()]) {
          if (row.Space === operation.space) this.#setRow([row.Space, row.Name], undefined, index);
        }
      } else if (operation.kind === 'delete') this.#setRow(operation.key, undefined, index);
      else {
        const before = this.rows.get(encodeKey(operation.key));
        const CreateIndex = before?.CreateIndex ?? index;
        const row = rowOf(operation, before, index);
        this.#setRow(operation.key, { ...row, CreateIndex, ModifyIndex: index }, index);
      }
    }
    if (this.events.length > known) this.index = index;
  }

  scan(order: Order, range: KeyRange): Item[] {
    return [...this.rows.values()]
      .map((row) => ({ row, key: keyIn(order, row) }))
      .filter(({ key }) => key?.startsWith(encodeRange(range)))
      .sort((left, right) => (left.key! < right.key! ? -1 : 1))
      .map(({ row }) => row);
  }

  /** Index of the last event that concerned the range; 0 if there was none. */
  lastIndex(order: Order, range: KeyRange): number {
    const text = encodeRange(range);
    const last = this.events.findLast(({ index, before, after }) => {
      const from = before && keyIn(order, before);
      const to = after && keyIn(order, after);
      const same = order === 'weight' && from === to && before?.WeightIndex === after?.WeightIndex;
      return index > 0 && !same && (from?.startsWith(text) || to?.startsWith(text));
    });
    return last?.index ?? 0;
  }

  #setRow(key: Key, after: Item | undefined, index: number): void {
    const text = encodeKey(key);
    const before = this.rows.get(text);
    if (before === undefined && after === undefined) return;
    if (after === undefined) this.rows.delete(text);
    else this.rows.set(text, after);
    this.events.push({ index, before, after });
  }
}

function keyIn(order: Order, row: Item): string | undefined {
  const parts = order === '' ? [] : items.indexes[order].key(row);
  return parts && encodeKey([...parts, row.Space, row.Name]);
}

/** Everything that a snapshot shows of the table. */
export function dump(snapshot: Snapshot): unknown {
  const table = snapshot.table(items);
  return {
    index: snapshot.index,
    size: table.size,
    orders: orders.map((order) => {
      const reader = order === '' ? table : table.by(order);
      return ranges.map((range) => ({
        rows: [...reader.scan(range)],
        reverse: [...reader.scan({ ...range, reverse: true })],
        first: reader.find(range),
        latest: reader.find(range, (row) => row.ModifyIndex === snapshot.index),
        lastIndex: reader.lastIndex(range),
      }));
    }),
  };
}

/** The dump that the oracle expects. */
export function expected(oracle: Oracle): unknown {
  return {
    index: oracle.index,
    size: oracle.rows.size,
    orders: orders.map((order) =>
      ranges.map((range) => ({
        rows: oracle.scan(order, range),
        reverse: oracle.scan(order, range).toReversed(),
        first: oracle.scan(order, range)[0],
        latest: oracle.scan(order, range).find((row) => row.ModifyIndex === oracle.index),
        lastIndex: oracle.lastIndex(order, range),
      })),
    ),
  };
}
