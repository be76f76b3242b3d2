import { describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { MemoryDisk } from './engine/memory.ts';
import { type StateError, WriteQueueFull, WritesClosed } from './errors.ts';
import { item, items, tables } from './items.test-helper.ts';
import { memoryState } from './state.test-helper.ts';
import type { State, Transaction } from './types.ts';

async function slow(limits = {}) {
  const world = new SimulatedWorld(1);
  const disk = new MemoryDisk();
  disk.faults.appendDelayMs = 10;
  const state = await memoryState(tables, world, disk, { limits });
  const settled: string[] = [];
  const put = (name: string) => note(state, settled, name);
  return { world, disk, state, settled, put };
}

/** Writes a row and notes its index or its error. */
function note(state: State, settled: string[], name: string, fails = false): Promise<void> {
  const written = state.write((transaction) => {
    transaction.table(items).put(item(name));
    if (fails) throw new Error('refused');
  });
  return written.then(
    ({ index }) => void settled.push(`${name} ${index}`),
    (error: StateError) => void settled.push(`${name} ${error.code ?? error.message}`),
  );
}

test('the writes of a turn are a batch; writes during its append are the next batch', async () => {
  const { world, disk, state, settled, put } = await slow();
  for (const name of ['a', 'b', 'c']) void put(name);
  await world.advance(5);
  for (const name of ['d', 'e']) void put(name);
  expect(state.read().index).toBe(0);
  await world.advance(5);
  expect(settled).toEqual(['a 1', 'b 2', 'c 3']);
  expect(state.read().index).toBe(3);
  await world.advance(10);
  expect(disk.log.map(({ firstIndex, lastIndex }) => [firstIndex, lastIndex])).toEqual([
    [1, 3],
    [4, 5],
  ]);
  expect(settled.slice(3)).toEqual(['d 4', 'e 5']);
});

test('a batch ends at its size; each batch moves the view by its transactions', async () => {
  const { world, disk, state, put } = await slow({ batchBytes: 1 });
  for (const name of ['a', 'b', 'c']) void put(name);
  for (const index of [1, 2, 3]) {
    await world.advance(10);
    expect(state.read().index).toBe(index);
    expect(state.read().table(items).size).toBe(index);
  }
  expect(disk.log.length).toBe(3);
});

test('reads see durable rows only; transactions see all rows', async () => {
  const { world, state, put } = await slow();
  void put('a');
  const seen = state.write((transaction) => transaction.table(items).has('s', 'a'));
  await world.advance(9);
  expect(state.read().table(items).has('s', 'a')).toBe(false);
  await world.advance(1);
  expect(state.read().table(items).has('s', 'a')).toBe(true);
  expect(await seen).toEqual({ index: 1, value: true });
});

test('transactions that only read or that throw wait for the transactions that they saw', async () => {
  const { world, state, settled, put } = await slow();
  void put('a');
  void state.write((t) => t.table(items).size).then(() => settled.push('read'));
  void note(state, settled, 'thrown', true);
  await world.advance(9);
  expect(settled).toEqual([]);
  await world.advance(1);
  expect(settled).toEqual(['a 1', 'read', 'thrown refused']);
  void note(state, settled, 'thrown', true);
  await Promise.resolve();
  expect(settled.length).toBe(4);
});

test('a failed append fails all writes that wait, closes writes and leaves reads alone', async () => {
  const { world, disk, state, settled, put } = await slow({ batchBytes: 1 });
  void put('a');
  await world.advance(10);
  const fault = new Error('the disk is on fire');
  disk.faults.failAppend = () => fault;
  for (const name of ['b', 'c']) void put(name);
  void state.write((t) => t.table(items).size).catch((error) => settled.push(error.code));
  await world.advance(10);
  expect(settled).toEqual(['a 1', 'b writes-closed', 'c writes-closed', 'writes-closed']);
  expect(state.closed).toBeInstanceOf(WritesClosed);
  expect(state.closed).toMatchObject({ cause: fault, message: expect.stringContaining('on fire') });

  disk.faults.failAppend = undefined;
  await put('d');
  expect(settled.at(-1)).toBe('d writes-closed');
  expect(state.read().index).toBe(1);
  expect([...state.read().table(items).scan()].length).toBe(1);
  const again = await memoryState(tables, world, disk);
  expect(again.read().index).toBe(1);
});

test('a failed append discards the head', async () => {
  const { world, disk, state, put } = await slow();
  disk.faults.failAppend = () => new Error('the disk is on fire');
  void put('a');
  expect(state.head().table(items).size).toBe(1);
  await world.advance(10);
  expect(state.head().table(items).size).toBe(0);
  expect(state.head().index).toBe(0);
});

test('a full disk closes writes and is named', async () => {
  const { world, disk, state, put, settled } = await slow();
  disk.faults.capacityBytes = 10;
  void put('a');
  await world.advance(10);
  expect(settled).toEqual(['a writes-closed']);
  expect(state.closed?.message).toContain('no space is left');
});

test.each([
  ['writes', { waitingWrites: 2 }],
  ['bytes', { waitingBytes: 150 }],
])('the queue is bounded in %s', async (_, limits) => {
  const { world, state, settled, put } = await slow(limits);
  for (const name of ['a', 'b', 'c']) void put(name);
  await world.advance(0);
  expect(settled).toEqual(['c write-queue-full']);
  await expect(state.write(() => {})).rejects.toBeInstanceOf(WriteQueueFull);
  await world.advance(10);
  await Promise.all([put('d'), world.advance(10)]);
  expect(settled.slice(1)).toEqual(['a 1', 'b 2', 'd 3']);
});

test('close waits for the writes that wait, and takes no more writes', async () => {
  const { world, state, settled, put } = await slow();
  void put('a');
  const closed = state.close();
  void put('b');
  await world.advance(10);
  await closed;
  expect(settled).toEqual(['b writes-closed', 'a 1']);
  expect(state.close()).toBe(closed);
});

test('a second engine on the disk fences the first', async () => {
  const { world, disk, state, settled, put } = await slow();
  void put('a');
  await world.advance(5);
  const second = await memoryState(tables, world, disk);
  await put('b');
  expect(settled).toEqual(['b not-leading']);
  expect(state.leading).toBeUndefined();
  await world.advance(10);
  expect(settled).toEqual(['b not-leading', 'a not-leading']);
  const written = second.write((transaction) => transaction.table(items).put(item('c')));
  await world.advance(10);
  expect((await written).index).toBe(1);
});

describe('a transaction that nobody waits for', () => {
  /** Two writes that somebody waited for, and then a transaction that lingers. */
  async function lingering() {
    const setting = await slow({ lingerMs: 2 });
    const { world, disk, state, settled, put } = setting;
    for (const name of ['a', 'b']) {
      void put(name);
      await world.advance(10);
    }
    disk.faults.appendDelayMs = 0;
    const linger = (name: string) => {
      const run = (transaction: Transaction) => {
        transaction.table(items).put(item(name));
      };
      void state.write(run, { lingers: true }).then(
        ({ index }) => settled.push(`${name} ${index}`),
        (error: StateError) => settled.push(`${name} ${error.code}`),
      );
    };
    linger('c');
    await world.advance(0);
    expect(state.read().index).toBe(2);
    const batches = () =>
      disk.log.slice(2).map(({ firstIndex, lastIndex }) => [firstIndex, lastIndex]);
    return { ...setting, linger, batches };
  }

  test('travels with the next write', async () => {
    const { world, settled, put, linger, batches } = await lingering();
    linger('d');
    await world.advance(1);
    void put('e');
    await world.advance(0);
    expect(settled.slice(2)).toEqual(['c 3', 'd 4', 'e 5']);
    expect(batches()).toEqual([[3, 5]]);
  });

  test('waits for two milliseconds at most', async () => {
    const { world, state, linger, batches } = await lingering();
    await world.advance(1);
    linger('d');
    expect(state.read().index).toBe(2);
    await world.advance(1);
    expect(batches()).toEqual([[3, 4]]);
  });

  test('does not wait where nobody else writes', async () => {
    const { world, linger, batches } = await lingering();
    await world.advance(100);
    for (const name of ['d', 'e']) {
      linger(name);
      await world.advance(0);
    }
    expect(batches()).toEqual([
      [3, 3],
      [4, 4],
      [5, 5],
    ]);
  });

  test('goes on as soon as a read waits for what it wrote', async () => {
    const { world, state, batches } = await lingering();
    const seen = state.write((transaction) => transaction.table(items).has('s', 'c'));
    await world.advance(0);
    expect(await seen).toEqual({ index: 3, value: true });
    expect(batches()).toEqual([[3, 3]]);
  });

  test('goes on when the state closes', async () => {
    const { world, state, settled } = await lingering();
    const closed = state.close();
    await world.advance(0);
    await closed;
    expect(settled.slice(2)).toEqual(['c 3']);
  });

  test('fails when another process leads', async () => {
    const { world, disk, settled } = await lingering();
    await memoryState(tables, world, disk);
    await world.advance(2);
    expect(settled.slice(2)).toEqual(['c not-leading']);
  });
});
