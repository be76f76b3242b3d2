import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { SharedLog, SharedMemoryEngine } from './engine/shared-memory.ts';
import { openState } from './state.ts';
import { allTables, namespaces } from './tables.ts';
import type { Transaction } from './types.ts';

async function setUp() {
  const world = new SimulatedWorld(1);
  const batches: number[] = [];
  const log = new SharedLog({
    clock: world.clock,
    leaseMs: 400,
    appended: ({ firstIndex, lastIndex }) => batches.push(lastIndex - firstIndex + 1),
  });
  const { timers, random } = world;
  const engine = new SharedMemoryEngine({ log, timers, random, beatMs: 100 });
  const state = await openState({ tables: allTables, engine, timers });
  await world.advance(1000);
  return { world, log, state, batches };
}

const put = (Name: string) => (transaction: Transaction) =>
  transaction.table(namespaces).put({
    Name,
    Description: '',
    Partition: 'default',
    Meta: null,
    Capabilities: null,
    ACLs: null,
  });

test('a transaction that began is told at once, and becomes durable with its successors', async () => {
  const { state, batches } = await setUp();
  const begun = state.begin(put('a'));
  expect(begun.written).toMatchObject({ index: 1, value: { Name: 'a' } });
  const other = state.write(put('b'));
  await Promise.resolve();
  expect([state.read().index, batches]).toEqual([0, []]);
  const second = state.begin(put('c'));
  begun.release();
  begun.release();
  await Promise.resolve();
  expect(batches).toEqual([]);
  second.release();
  await Promise.all([begun.durable, other, second.durable]);
  expect([state.read().index, batches]).toEqual([3, [3]]);
});

test('a function that throws rejects when its reads are durable, and holds nothing', async () => {
  const { state } = await setUp();
  const begun = state.begin(() => {
    throw new Error('no');
  });
  expect(begun.written).toBeUndefined();
  await expect(begun.durable).rejects.toThrow('no');
  await state.write(put('a'));
  expect(state.read().index).toBe(1);
});

test('a transaction without changes holds nothing', async () => {
  const { state } = await setUp();
  const begun = state.begin(({ hasChanged }) => hasChanged);
  expect(begun.written).toEqual({ index: 0, value: false });
  await state.write(put('a'));
  await begun.durable;
});

test('a term that ends meanwhile fails it, and a server that follows begins nothing', async () => {
  const { world, log, state } = await setUp();
  const begun = state.begin(put('a'));
  const failed = expect(begun.durable).rejects.toMatchObject({ code: 'not-leading' });
  Object.defineProperty(log, 'isFree', { get: () => false });
  log.depose();
  await world.advance(1000);
  await failed;
  begun.release();
  expect(state.read().index).toBe(0);
  expect(() => state.begin(put('b'))).toThrow();
});
