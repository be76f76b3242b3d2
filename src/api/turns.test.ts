import { describe, expect, test } from 'vitest';
import { Turns } from './turns.ts';

/**
 * A simulated world. Each reading of the clock advances it by `lookMs`, and callbacks run in
 * `turn`.
 */
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
  const later = (run: () => void) => {
    soon.push(run);
    return timer;
  };
  const timers = { after: () => timer, soon: later, unhurried: later };
  /** Runs all pending callbacks, at most one turn. */
  const turn = async () => {
    for (const run of soon.splice(0)) run();
    // Lets promise callbacks run.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, timers, turn, soon };
}

/** Work of `steps` steps that records each step. */
function workOf(name: string, steps: number, done: string[]) {
  let left = steps;
  return () => {
    done.push(name);
    left--;
    return left === 0;
  };
}

test.each([
  // columns: title, time of a clock reading, steps, steps taken at once, whether that was all
  ['a step is taken in any case', 1000, 3, 1, false],
  ['one step is all', 1000, 1, 1, true],
  ['time does not pass', 0, 9, 9, true],
])('taken at once: %s', (_title, lookMs, steps, taken, isOver) => {
  const done: string[] = [];
  expect(new Turns(worldOf(lookMs)).begin(workOf('a', steps, done))).toBe(isOver);
  expect(done).toHaveLength(taken);
});

test('long tasks take turns, one at a time', async () => {
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

test('an exception in a step ends its task only', async () => {
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

describe('a generator of steps', () => {
  function* counting(steps: number): Generator<void, number, void> {
    for (let step = 1; step < steps; step++) yield;
    return steps;
  }

  test('is finished at once and without a promise if it is short', () => {
    const turns = new Turns(worldOf(0));
    expect(turns.through(counting(1000))).toEqual({ value: 1000 });
  });

  test('is finished in turns if it is long', async () => {
    const { turn, ...world } = worldOf(10);
    const taken = new Turns(world).through(counting(4));
    expect(taken).toBeInstanceOf(Promise);
    for (let number = 0; number < 3; number++) {
      expect(world.soon).toHaveLength(1);
      await turn();
    }
    expect(world.soon).toHaveLength(0);
    expect(await taken).toEqual({ value: 4 });
  });

  test('is abandoned when its result is not needed', async () => {
    const { turn, ...world } = worldOf(10);
    let isGone = false;
    const taken = new Turns(world).through(counting(4), () => isGone);
    isGone = true;
    await turn();
    expect(world.soon).toHaveLength(0);
    expect(await taken).toBeUndefined();
  });

  test('passes on an exception', async () => {
    const { turn, ...world } = worldOf(10);
    // biome-ignore lint/correctness/useYield: it comes to none
    function* failing(): Generator<void, never, void> {
      throw new Error('no');
    }
    expect(() => new Turns(world).through(failing())).toThrow('no');
    const later = new Turns(world).through(
      (function* () {
        yield;
        return yield* failing();
      })(),
    );
    await Promise.all([expect(later).rejects.toThrow('no'), turn()]);
  });
});
