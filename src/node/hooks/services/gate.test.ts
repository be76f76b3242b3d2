import { expect, test } from 'vitest';
import { Gate } from './gate.ts';

const never = new AbortController().signal;
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Work that ends when `open` is called. */
function visitor(gate: Gate, group: string, signal = never) {
  const opened = Promise.withResolvers<string>();
  const seen = { isInside: false, result: undefined as string | undefined, isOver: false };
  void gate
    .through(group, signal, () => {
      seen.isInside = true;
      return opened.promise;
    })
    .then((result) => Object.assign(seen, { result, isOver: true }));
  return { seen, leave: () => opened.resolve('done') };
}

test('the bound holds, and the others follow in order', async () => {
  const gate = new Gate(2, 2);
  const all = ['a', 'b', 'c', 'd'].map((group) => visitor(gate, group));
  await settle();
  expect(all.map(({ seen }) => seen.isInside)).toEqual([true, true, false, false]);
  all[1]!.leave();
  await settle();
  expect(all[1]!.seen.result).toBe('done');
  expect(all.map(({ seen }) => seen.isInside)).toEqual([true, true, true, false]);
});

test('a full group delays no other group', async () => {
  const gate = new Gate(3, 1);
  const all = ['a', 'a', 'b'].map((group) => visitor(gate, group));
  await settle();
  expect(all.map(({ seen }) => seen.isInside)).toEqual([true, false, true]);
  all[0]!.leave();
  await settle();
  expect(all[1]!.seen.isInside).toBe(true);
});

test('a caller that gives up takes no room', async () => {
  const gate = new Gate(1, 1);
  const first = visitor(gate, 'a');
  const stop = new AbortController();
  const second = visitor(gate, 'b', stop.signal);
  const third = visitor(gate, 'c');
  stop.abort();
  await settle();
  expect(second.seen).toMatchObject({ isInside: false, isOver: true, result: undefined });
  first.leave();
  await settle();
  expect(third.seen.isInside).toBe(true);
});

test('failed work makes room', async () => {
  const gate = new Gate(1, 1);
  await expect(gate.through('a', never, () => Promise.reject(new Error('no')))).rejects.toThrow();
  expect(await gate.through('a', never, async () => 'in')).toBe('in');
});
