import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limits } from '../../model/limits.ts';
import { Pace } from './pace.ts';

const { costFactor, watchIntervalMs: leastMs } = limits.uiStream;

test('a cheap read is repeated after the least time, a costly one after its cost in multiples', () => {
  const pace = new Pace();
  expect(pace.next(0, { endMs: 0, costMs: 1, leastMs })).toBe(leastMs);
  expect(pace.next(10_000, { endMs: 10_000, costMs: 20, leastMs })).toBe(10_000 + 20 * costFactor);
});

test('a watch that has rested long is read at once', () => {
  expect(new Pace().next(5000, { endMs: 0, costMs: 5, leastMs })).toBe(5000);
});

test('other work for watches is followed by as long a pause as a read', () => {
  const pace = new Pace();
  pace.charge(5000, 10);
  expect(pace.next(5000, { endMs: 5000, costMs: 2, leastMs })).toBe(5000 + 10 * costFactor);
});

test('watches of which none reaches its own bound use an eightieth of a core together', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 4, max: 10 }), { minLength: 1, maxLength: 4 }),
      (costs) => {
        const pace = new Pace();
        const endMs = 100_000;
        const turns = costs.map((costMs) => {
          const ends = costs.map(() => 0);
          return { costMs, nextMs: 0, ends };
        });
        let spentMs = 0;
        for (let nowMs = 0; nowMs < endMs; nowMs++) {
          for (const turn of turns) {
            if (turn.nextMs > nowMs) continue;
            spentMs += turn.costMs;
            turn.nextMs = pace.next(nowMs, { endMs: nowMs, costMs: turn.costMs, leastMs });
          }
        }
        // The first reads are not held up.
        const firstMs = costs.reduce((sum, cost) => sum + cost, 0);
        expect(spentMs).toBeLessThanOrEqual((endMs / costFactor) * 1.1 + 2 * firstMs);
      },
    ),
    { numRuns: 20 },
  );
});

test('a watch among very many waits no longer than its own bound', () => {
  const pace = new Pace();
  let latestMs = 0;
  for (let at = 0; at < 10_000; at++) latestMs = pace.next(0, { endMs: 0, costMs: 2, leastMs });
  expect(latestMs).toBe(2 * limits.uiStream.costFactorMax);
});
