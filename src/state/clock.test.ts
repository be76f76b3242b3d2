import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { StateClock } from './clock.ts';
import { SharedLog, SharedMemoryEngine } from './engine/shared-memory.ts';
import { item, items, tables } from './items.test-helper.ts';
import { openState } from './state.ts';

const world = new SimulatedWorld(1);
const startMs = world.clock.nowMs();
const hourMs = 3_600_000;

/** The clock of a machine that is ahead of the others by so much. */
const ahead = (byMs: number) => {
  const clock = {
    byMs,
    nowMs: () => world.clock.nowMs() + clock.byMs,
    monotonicMs: () => world.clock.monotonicMs(),
  };
  return clock;
};

test('the clock never goes back, and comes back to a clock that was set back', async () => {
  const own = ahead(0);
  const clock = new StateClock(own);
  const before = clock.nowMs();
  own.byMs = -1000;
  expect(clock.nowMs()).toBe(before);
  await world.advance(600);
  expect(clock.nowMs()).toBe(before + 300);
  await world.advance(1400);
  expect([clock.nowMs(), own.nowMs()]).toEqual([before + 1000, before + 1000]);
  await world.advance(500);
  expect(clock.nowMs()).toBe(own.nowMs());
});

test('a batch of a faster clock moves it on, a batch of a slower one does not', () => {
  const clock = new StateClock(ahead(0));
  const before = clock.nowMs();
  clock.note(before - 5000);
  expect(clock.nowMs()).toBe(before);
  clock.note(before + 5000);
  expect(clock.nowMs()).toBe(before + 5000);
});

/** Two processes over a log, the first of which is an hour ahead; the times at which each of them leads. */
async function timesOfTwo({ knowTime, limits = {} }: { knowTime: boolean; limits?: object }) {
  const log = new SharedLog({ clock: world.clock, leaseMs: 100 });
  const start = async (byMs: number) => {
    const clock = ahead(byMs);
    const { timers, random } = world;
    const engine = new SharedMemoryEngine({ log, timers, random, beatMs: 20 });
    const state = await openState({ tables, engine, timers, limits, ...(knowTime && { clock }) });
    await world.advance(500);
    const put = async (name: string) => {
      const { nowMs } = state.clock ?? clock;
      let ranMs = 0;
      await state.write((transaction) => {
        transaction.table(items).put(item(name));
        ranMs = nowMs.call(state.clock ?? clock);
      });
      return ranMs;
    };
    return { engine, state, put };
  };
  const first = await start(hourMs);
  const times = [await first.put('a')];
  const second = await start(0);
  times.push(await first.put('b'));
  first.engine.crash();
  await world.advance(1000);
  times.push(await second.put('c'));
  const third = await start(-hourMs);
  second.engine.crash();
  await world.advance(1000);
  times.push(await third.put('d'));
  return { times, log };
}

const rise = (times: readonly number[]) => times.every((ms, at) => at === 0 || ms > times[at - 1]!);

test('the transactions of a new leader begin no earlier than those of the leader before', async () => {
  const { times, log } = await timesOfTwo({ knowTime: true });
  expect(rise(times)).toBe(true);
  expect(times[0]).toBeGreaterThanOrEqual(startMs + hourMs);
  for (const { timeMs } of log.records) expect(timeMs).toBeGreaterThanOrEqual(times[0]!);
});

test('they do so after a snapshot that took the place of the batches', async () => {
  const { times, log } = await timesOfTwo({ knowTime: true, limits: { logBytes: 1 } });
  expect(log.snapshot.index).toBeGreaterThan(0);
  expect(rise(times)).toBe(true);
});

test('batches that carry no time let time go back', async () => {
  const { times } = await timesOfTwo({ knowTime: false });
  expect(rise(times)).toBe(false);
});
