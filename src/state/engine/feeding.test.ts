import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { item, items, ranges, tables } from '../items.test-helper.ts';
import { openState } from '../state.ts';
import type { State } from '../types.ts';
import { DurableIndex } from './durable-index.ts';
import type { Fed, FedReader } from './feed.ts';
import { FeedingEngine } from './feeding.ts';
import { MemoryEngine } from './memory.ts';
import { ReaderEngine } from './reader.ts';

const world = () => new SimulatedWorld(1);

async function openLeader({ timers }: SimulatedWorld, waitingBytesMax?: number) {
  const feeding = new FeedingEngine(new MemoryEngine(), timers, waitingBytesMax);
  return { feeding, state: await openState({ tables, engine: feeding, timers }) };
}

/** A reader whose messages arrive when the test says so. */
class SlowReader implements FedReader {
  readonly engine: ReaderEngine;
  readonly waiting: Fed[] = [];
  takenBytes = 0;
  isGivenUp = false;

  constructor(durable: DurableIndex) {
    this.engine = new ReaderEngine(durable, (bytes) => {
      this.takenBytes += bytes;
    });
  }

  readonly send = (fed: Fed) => void this.waiting.push(fed);
  readonly taken = () => this.takenBytes;
  readonly tooSlow = () => {
    this.isGivenUp = true;
  };

  arrive(count = Number.POSITIVE_INFINITY): void {
    for (const fed of this.waiting.splice(0, count)) this.engine.take(fed);
  }
}

async function settled<T>(clock: SimulatedWorld, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  while (!isOver) await clock.advance(1);
  return work;
}

const put = (state: State, name: string) =>
  state.write((transaction) => transaction.table(items).put(item(name)));

const shownBy = (state: State) => {
  const table = state.read().table(items);
  return {
    index: state.read().index,
    rows: [...table.scan()],
    indexes: ranges.map((range) => table.lastIndex(range)),
  };
};

test('a reader has the rows and the indexes of every range, also of what came while it was started', async () => {
  const clock = world();
  const { timers } = clock;
  const { feeding, state } = await openLeader(clock);
  for (const name of ['a', 'b', 'c']) await put(state, name);
  await state.write((transaction) => transaction.table(items).delete('s', 'b'));
  const reader = new SlowReader(feeding.durable);
  const fed = feeding.feed(state.read(), [reader]);
  await put(state, 'during');
  await settled(clock, fed);
  await put(state, 'before it is taken');
  const opening = openState({ tables, engine: reader.engine, timers });
  reader.arrive();
  const copy = await settled(clock, opening);
  await put(state, 'after');
  await state.write((transaction) => transaction.table(items).delete('s', 'a'));
  reader.arrive();
  expect(shownBy(copy)).toEqual(shownBy(state));
});

/** A reader that has not heard of a write whose promise has resolved. */
async function behind(durableOf: (feeding: FeedingEngine) => DurableIndex) {
  const clock = world();
  const { feeding, state } = await openLeader(clock);
  const reader = new SlowReader(durableOf(feeding));
  const fed = feeding.feed(state.read(), [reader]);
  await settled(clock, fed);
  const opening = openState({ tables, engine: reader.engine, timers: clock.timers });
  reader.arrive();
  const copy = await settled(clock, opening);
  await put(state, 'written');
  const hasRow = () => copy.read().table(items).get('s', 'written') !== undefined;
  return { reader, copy, hasRow };
}

test('an exact read waits for a write that was acknowledged', async () => {
  const { reader, copy, hasRow } = await behind(({ durable }) => durable);
  const seen = copy.exact()!.then(hasRow);
  reader.arrive();
  expect(await seen).toBe(true);
  expect(copy.exact()).toBeUndefined();
});

test('without the shared index it would not wait', async () => {
  const { copy, hasRow } = await behind(() => new DurableIndex());
  expect(copy.exact()).toBeUndefined();
  expect(hasRow()).toBe(false);
});

test('a reader that takes nothing is given up, and gets nothing more', async () => {
  const clock = world();
  const { feeding, state } = await openLeader(clock, 1000);
  const slow = new SlowReader(feeding.durable);
  await settled(clock, feeding.feed(state.read(), [slow]));
  slow.arrive();
  for (let written = 0; !slow.isGivenUp; written++) await put(state, `item-${written}`);
  const { length } = slow.waiting;
  expect(length).toBeGreaterThan(1);
  await put(state, 'more');
  expect(slow.waiting).toHaveLength(length);
});

test('a reader with turns takes in a few batches at a time, in their order, and answers in between', async () => {
  const clock = world();
  const { feeding, state } = await openLeader(clock);
  await settled(clock, put(state, 'a'));
  const turns: (() => void)[] = [];
  let nowMs = 0;
  const engine = new ReaderEngine(feeding.durable, undefined, {
    timers: {
      soon: (run) => {
        turns.push(run);
        return { clear: () => {} };
      },
    },
    // Each look at the clock finds it a millisecond later.
    clock: { monotonicMs: () => nowMs++ },
  });
  const sent = { send: (fed: Fed) => engine.take(fed), taken: () => Number.POSITIVE_INFINITY };
  await settled(clock, feeding.feed(state.read(), [{ ...sent, tooSlow: () => {} }]));
  const opening = openState({ tables, engine, timers: clock.timers });
  while (turns.length > 0) turns.shift()!();
  const reader = await settled(clock, opening);
  const before = reader.read().index;
  for (const name of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) await settled(clock, put(state, name));
  const shown = [];
  for (;;) {
    shown.push(reader.read().index - before);
    const turn = turns.shift();
    if (turn === undefined) break;
    turn();
  }
  expect(shown).toEqual([0, 2, 4, 6, 7]);
  expect(shownBy(reader)).toEqual(shownBy(state));
});

test('a reader appends nothing', async () => {
  const engine = new ReaderEngine(new DurableIndex());
  await expect(engine.append()).rejects.toThrow('a reader appends nothing');
});
