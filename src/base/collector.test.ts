import { cachedDataVersionTag, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { expect, it } from 'vitest';
import { collectAll } from './collector.ts';

/** Functions that keep megabytes of compiled code once they have run. */
function compiled(): readonly (() => number)[] {
  const found = Array.from({ length: 800 }, (_, at) => {
    const lines = Array.from({ length: 300 }, (_, line) => `sum += sum * ${at + line} + ${line};`);
    return new Function(`let sum = ${at}; ${lines.join('\n')} return sum;`) as () => number;
  });
  for (const run of found) run();
  return found;
}

/** Megabytes that a collection gave back. */
async function given(isStart: boolean): Promise<number> {
  const before = getHeapStatistics().used_heap_size;
  await collectAll({ isStart });
  return (before - getHeapStatistics().used_heap_size) / 1024 ** 2;
}

it('the code of a start goes, and functions run as before', async () => {
  await given(false);
  const functions = compiled();
  const expected = functions.map((run) => run());
  // Garbage alone.
  await given(false);
  expect(await given(true)).toBeGreaterThan(3);
  expect(functions.map((run) => run())).toEqual(expected);
});

it('later, code stays that has run since the last collection, and other code goes', async () => {
  await given(true);
  const functions = compiled();
  let kept = 0;
  for (let round = 0; round < 3; round++) {
    for (const run of functions) run();
    kept = await given(false);
  }
  // Nothing has run since then.
  expect(await given(false)).toBeGreaterThan(3 + kept);
});

it('meanwhile other threads find no flag changed but the age at which code goes', async () => {
  await collectAll({ isStart: false });
  // It stands for the values of all flags.
  const before = cachedDataVersionTag();
  const collecting = collectAll({ isStart: false });
  setFlagsFromString('--bytecode-old-age=6');
  const meanwhile = cachedDataVersionTag();
  await collecting;
  expect([meanwhile, cachedDataVersionTag()]).toEqual([before, before]);
});
