import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  contains,
  endOf,
  overlaps,
  parseUidRange,
  type UidRange,
} from '../../model/node/uid-range.ts';
import { freeSlice, nextUid, sliceSize } from './uid-choice.ts';

/** Ranges that do not overlap, small enough to be used up. */
const slices = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 5 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => {
    let start = 1000;
    return parts.map(([gap, count]): UidRange => {
      const slice = { start: start + gap, count };
      start = endOf(slice);
      return slice;
    });
  });

const sizeOf = (all: readonly UidRange[]): number => all.reduce((sum, { count }) => sum + count, 0);

describe('the next user id', () => {
  test('is a free id of a slice, as long as there is one', () => {
    fc.assert(
      fc.property(slices, fc.array(fc.nat(40)), (given, wishes) => {
        const held: number[] = [];
        let last = 0;
        for (const wish of wishes) {
          // Some are returned, in any order.
          if (wish % 3 === 0) held.splice(wish % Math.max(1, held.length), 1);
          const uid = nextUid(given, (one) => held.includes(one), last);
          expect(uid === undefined).toBe(held.length === sizeOf(given));
          if (uid === undefined) continue;
          expect(held).not.toContain(uid);
          expect(given.some((slice) => contains(slice, uid))).toBe(true);
          held.push(uid);
          last = uid;
        }
      }),
    );
  });

  test('is a returned one only after all others have been used', () => {
    fc.assert(
      fc.property(slices, (given) => {
        let last = 0;
        const seen: number[] = [];
        for (let turn = 0; turn < 2 * sizeOf(given); turn++) {
          last = nextUid(given, () => false, last)!;
          seen.push(last);
        }
        const [first, second] = [seen.slice(0, sizeOf(given)), seen.slice(sizeOf(given))];
        expect(new Set(first).size).toBe(sizeOf(given));
        expect(second).toEqual(first);
      }),
    );
  });
});

describe('a slice', () => {
  const range = { start: 5000, count: 4096 };
  const everything = [{ start: 0, count: 2 ** 32 - 1 }];

  test('overlaps with no taken range, is mapped, and lies in the range', () => {
    const part = fc.record({
      start: fc.integer({ min: 4000, max: 10_000 }),
      count: fc.integer({ min: 1, max: 3000 }),
    });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), part, (taken, mapped) => {
        const slice = freeSlice({ range, taken, mapped: [mapped] });
        if (slice === undefined) return;
        expect(taken.some((one) => overlaps(one, slice))).toBe(false);
        expect(slice.start).toBeGreaterThanOrEqual(Math.max(range.start, mapped.start));
        expect(endOf(slice)).toBeLessThanOrEqual(Math.min(endOf(range), endOf(mapped)));
      }),
    );
  });

  test('is there for many agents, whatever the size of the range', () => {
    for (const count of [1, 10, 300, 65_536, 2 ** 20]) {
      const taken: UidRange[] = [];
      for (;;) {
        const slice = freeSlice({ range: { start: 1000, count }, taken, mapped: everything });
        if (slice === undefined) break;
        taken.push(slice);
      }
      expect(taken.length).toBeGreaterThanOrEqual(Math.min(count, 256));
      expect(sizeOf(taken)).toBe(count);
    }
    expect(sliceSize({ start: 1000, count: 2 ** 20 })).toBe(4096);
  });
});

test.each([
  ['200000:65536', { start: 200_000, count: 65_536 }],
  ['1000:1', { start: 1000, count: 1 }],
  ['4294967294:1', { start: 4_294_967_294, count: 1 }],
  ['4294967294:2', undefined],
  ['999:10', undefined],
  ['60000:10000', undefined],
  ['200000:0', undefined],
  ['200000', undefined],
  ['-5:10', undefined],
  ['roster:200000:10', undefined],
])('the range %s', (text, range) => {
  expect(parseUidRange(text)).toEqual(range);
});
