import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { SharedLog, SharedMemoryEngine } from './engine/shared-memory.ts';
import { NotLeading } from './errors.ts';
import { item, items, tables } from './items.test-helper.ts';
import { openState } from './state.ts';
import { termState } from './term-state.ts';
import type { Transaction } from './types.ts';

const put = (transaction: Transaction) => {
  transaction.table(items).put(item('new'));
};

/** As a report of a row that is not there. */
const nothing = (transaction: Transaction) =>
  transaction.table(items).get('s', 'new') === undefined;

/** Two processes over a log. The first process leads, and beats once in a minute. */
async function setUp() {
  const world = new SimulatedWorld(1);
  const log = new SharedLog({ clock: world.clock, leaseMs: 200_000 });
  const start = async (beatMs: number) => {
    const engine = new SharedMemoryEngine({ log, ...world, beatMs });
    return { engine, state: await openState({ tables, engine, timers: world.timers }) };
  };
  const first = await start(60_000);
  await world.advance(90_000);
  const second = await start(100);
  /** The second process leads and writes, and the first has not heard of it. */
  const depose = async () => {
    log.depose();
    await world.advance(200);
    await second.state.write(put);
    expect([first.state.leading, second.state.leading]).toEqual([{ epoch: 1 }, { epoch: 2 }]);
  };
  return { world, log, first: first.state, depose };
}

test('a write of a leader that changes nothing is done', async () => {
  const { first } = await setUp();
  await expect(first.write(nothing)).resolves.toEqual({ index: 0, value: true });
  await expect(first.begin(nothing).durable).resolves.toBeUndefined();
});

test('a leader that was deposed without its knowledge does not say that there is nothing to write', async () => {
  const { world, first, depose } = await setUp();
  await depose();
  const written = first.write(nothing).catch((error) => error);
  const begun = first.begin(nothing).durable.catch((error) => error);
  await world.advance(90_000);
  expect([await written, await begun]).toEqual([expect.any(NotLeading), expect.any(NotLeading)]);
  expect(first.read().table(items).get('s', 'new')).toBeDefined();
});

test('the work of a term, which tells nobody, does not ask the log', async () => {
  const { first, depose } = await setUp();
  const state = termState(first, first.leading!);
  await depose();
  await expect(state.write(nothing)).resolves.toEqual({ index: 0, value: true });
});

test('a write that changes nothing is not done while the log cannot be asked', async () => {
  const { log, first } = await setUp();
  Object.defineProperty(log, 'index', {
    get: () => {
      throw new Error('the log is away');
    },
  });
  await expect(first.write(nothing)).rejects.toBeInstanceOf(NotLeading);
});
