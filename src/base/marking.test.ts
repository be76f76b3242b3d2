import { expect, test } from 'vitest';
import { Marking } from './marking.ts';
import { realWorld } from './ports-real.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('work that can wait runs while no old objects are marked', async () => {
  const { timers } = realWorld;
  await new Promise<void>((resolve) => timers.unhurried(resolve));
  const marking = new Marking();
  const kept: object[] = [];
  while (!marking.isUnderWay) {
    for (let count = 0; count < 10_000; count++) kept.push({ at: [count] });
    await turn();
  }
  let wasCleared = true;
  timers
    .unhurried(() => {
      wasCleared = false;
    })
    .clear();
  const wasMarking = await new Promise<boolean>((resolve) =>
    timers.unhurried(() => resolve(marking.isUnderWay)),
  );
  expect([wasMarking, wasCleared]).toEqual([false, true]);
});
