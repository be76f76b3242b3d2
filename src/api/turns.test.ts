import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

/** A world in which every look at the clock takes so long, and what is to run soon runs by hand. */
function worldOf(lookMs: number) {
  let nowMs = 0;
  const soon: (() => void)[] = [];
  const clock = {
    nowMs: () => 0,
    monotonicMs: () => {
      nowMs += lookMs;
      return nowMs;
    },
  };
  const timer = { clear: () => {} };
  const timers = {
    after: () => timer,
    soon: (run: () => void) => {
      soon.push(run);
      return timer;
    },
  };
  /** Lets everything else go first: one turn at most is taken. */
  const turn = async () => {
    for (const run of soon.splice(0)) run();
    // What is resolved by it goes on.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, timers, turn, soon };
}

/** Work of so many steps, each of which notes its name. */
function workOf(name: string, steps: number, done: string[]) {
  let left = steps;
  return () => {
    done.push(name);
    left--;
    return left === 0;
  };
}

test.each([
  // what a look takes, steps there are, how many are taken at once, whether that was all
  ['a step is taken in any case', 1000, 3, 1, false],
  ['one step is all', 1000, 1, 1, true],
  ['time does not pass', 0, 9, 9, true],
])('at once: %s', (_title, lookMs, steps, taken, isOver) => {
  const done: string[] = [];
  expect(new Turns(worldOf(lookMs)).begin(workOf('a', steps, done))).toBe(isOver);
  expect(done).toHaveLength(taken);
});

test('who has long work takes turns, one at a time', async () => {
  const world = worldOf(1000);
  const turns = new Turns(world);
  const done: string[] = [];
  const whole = async (name: string, steps: number) => {
    const step = workOf(name, steps, done);
    while (!(await turns.take(step)));
    done.push(`${name} is over`);
  };
  const all = [whole('a', 3), whole('b', 1), whole('c', 2)];
  const order: string[] = [];
  while (world.soon.length > 0) {
    done.length = 0;
    await world.turn();
    order.push(done.join(', '));
  }
  await Promise.all(all);
  expect(order).toEqual(['a', 'b, b is over', 'c', 'a', 'c, c is over', 'a, a is over']);
});

test('what a step throws ends that work and no other', async () => {
  const world = worldOf(1000);
  const turns = new Turns(world);
  const done: string[] = [];
  const failing = turns.take(() => {
    throw new Error('a bug');
  });
  const failed = expect(failing).rejects.toThrow('a bug');
  const other = turns.take(workOf('b', 1, done));
  while (world.soon.length > 0) await world.turn();
  await failed;
  expect([await other, done]).toEqual([true, ['b']]);
});
