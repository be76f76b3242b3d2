import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { SlicedQueue } from './sliced-queue.ts';

const world = new SimulatedWorld(1);
const never = new AbortController().signal;
const { sliceSteps, explanationsMax } = limits.scheduler;

const newQueue = () =>
  new SlicedQueue(world, {
    sizeMax: explanationsMax,
    full: (limit) => refusal('too-many-explanations', { limit }),
  });

/** Takes the given number of steps and adds the name to `log` at each. */
function* work(name: string, steps: number, log: string[]) {
  try {
    for (let step = 0; step < steps; step++) {
      log.push(name);
      yield;
    }
    return name;
  } finally {
    log.push(`${name} ends`);
  }
}

test('explanations are made one after the other, and other timers run in between', async () => {
  const queue = newQueue();
  const log: string[] = [];
  const both = ['a', 'b'].map((name) => queue.run(() => work(name, sliceSteps + 1, log), never));
  await new Promise(setImmediate);
  expect(log).toEqual(Array(sliceSteps).fill('a'));
  await world.advance(0);
  expect(await Promise.all(both)).toEqual(['a', 'b']);
  expect(log.indexOf('b')).toBeGreaterThan(log.indexOf('a ends'));
});

test('a piece of work that throws does not hold up the next', async () => {
  const queue = newQueue();
  const refused = queue.run(() => {
    throw new Error('no such job');
  }, never);
  const next = queue.run(() => work('b', 1, []), never);
  await expect(refused).rejects.toThrow('no such job');
  expect(await next).toBe('b');
});

test('work stops when its caller is gone', async () => {
  const queue = newQueue();
  const log: string[] = [];
  const [leaving, gone] = [new AbortController(), new AbortController()];
  const first = queue.run(() => work('a', 10 * sliceSteps, log), leaving.signal);
  const second = queue.run(() => work('b', 1, log), gone.signal);
  await new Promise(setImmediate);
  leaving.abort();
  gone.abort();
  await world.advance(0);
  expect(await Promise.all([first, second])).toEqual([undefined, undefined]);
  expect(log).toEqual([...Array(sliceSteps).fill('a'), 'a ends']);
});

test('work beyond the limit is refused until some is done', async () => {
  const queue = newQueue();
  const all = Array.from({ length: explanationsMax }, () =>
    queue.run(() => work('a', 1, []), never),
  );
  const refused = queue.run(() => work('b', 1, []), never);
  await expect(refused).rejects.toMatchObject({ code: 'too-many-explanations', status: 429 });
  await Promise.all(all);
  expect(await queue.run(() => work('c', 1, []), never)).toBe('c');
});
