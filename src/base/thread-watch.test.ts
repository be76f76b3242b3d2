import { expect, test } from 'vitest';
import { SimulatedWorld } from './ports-simulated.ts';
import { watchThread } from './thread-watch.ts';

const beatMs = 1000;
const silentBeats = 30;
const firstBeats = 300;

function watched() {
  const world = new SimulatedWorld(1);
  const { timers } = world;
  const seen = { asked: 0, answered: 0, hung: 0, answers: true, isHeld: false };
  const answer = () => {
    seen.answered = seen.asked;
  };
  const stop = watchThread({
    timers,
    beatMs,
    silentBeats,
    firstBeats,
    ask: () => {
      seen.asked++;
      if (seen.answers) timers.after(1, answer);
    },
    answered: () => seen.answered,
    isHeld: () => seen.isHeld,
    hung: () => seen.hung++,
  });
  return { world, seen, answer, stop };
}

test('a thread that answers is asked at each beat', async () => {
  const { world, seen } = watched();
  await world.advance(100 * beatMs);
  expect(seen).toMatchObject({ asked: 100, hung: 0 });
});

test('a thread that does not answer has hung after the last of its beats, which is told once', async () => {
  const { world, seen } = watched();
  await world.advance(10 * beatMs);
  seen.answers = false;
  await world.advance((silentBeats + 1) * beatMs - 1);
  expect(seen).toMatchObject({ asked: 11, hung: 0 });
  await world.advance(1);
  expect(seen.hung).toBe(1);
  await world.advance(100 * beatMs);
  expect(seen).toMatchObject({ asked: 11, hung: 1 });
});

test('a thread that answers late has all its time again', async () => {
  const { world, seen, answer } = watched();
  await world.advance(beatMs + 1);
  seen.answers = false;
  for (let round = 0; round < 5; round++) {
    await world.advance(silentBeats * beatMs);
    answer();
  }
  expect(seen).toMatchObject({ asked: 6, hung: 0 });
});

test('a thread has more time for its first answer', async () => {
  const { world, seen } = watched();
  seen.answers = false;
  await world.advance(firstBeats * beatMs);
  expect(seen).toMatchObject({ asked: 1, hung: 0 });
  await world.advance(beatMs);
  expect(seen.hung).toBe(1);
});

test('time in which the watching thread does not run counts as a single beat', async () => {
  const due: (() => void)[] = [];
  const timers = {
    after: (_: number, run: () => void) => {
      due.push(run);
      return { clear: () => {} };
    },
  };
  let hung = 0;
  const silent = { ask: () => {}, answered: () => 0, hung: () => hung++ };
  watchThread({ ...silent, timers: timers as never, beatMs, silentBeats, firstBeats });
  // However late a beat comes, it is one.
  for (let beat = 0; beat < firstBeats; beat++) due.shift()!();
  expect(hung).toBe(0);
  due.shift()!();
  expect(hung).toBe(1);
});

test('a thread that is held does not count as hung, and has all its time once it is let go', async () => {
  const { world, seen } = watched();
  await world.advance(beatMs + 1);
  Object.assign(seen, { answers: false, isHeld: true });
  await world.advance(beatMs + 3 * silentBeats * beatMs - 1);
  expect(seen.hung).toBe(0);
  seen.isHeld = false;
  await world.advance(silentBeats * beatMs - 1);
  expect(seen.hung).toBe(0);
  await world.advance(1);
  expect(seen.hung).toBe(1);
});

test('a watch that was ended tells nothing', async () => {
  const { world, seen, stop } = watched();
  seen.answers = false;
  await world.advance(5 * beatMs);
  stop();
  await world.advance(100 * beatMs);
  expect(seen).toMatchObject({ asked: 1, hung: 0 });
  expect(world.pendingTimers).toBe(0);
});
