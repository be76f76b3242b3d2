import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closed, Tournament, TreeLayout } from './tournament.ts';

/** Values shared by many slots, some so close that their quotients are equal. */
const value = fc.constantFrom(closed, 0, 0.1, 0.3, 0.1 + 0.2, 0.3 + Number.EPSILON / 4, 1, -1);

test('top and first equal those found by comparing every slot', () => {
  const input = fc.record({
    classOf: fc.array(fc.integer({ min: -1, max: 3 }), { minLength: 1, maxLength: 70 }),
    sets: fc.array(fc.tuple(fc.nat({ max: 69 }), value), { maxLength: 120 }),
    filled: fc.boolean(),
    boost: fc.constantFrom(0, 0.5, -1, 1 / 3),
    terms: fc.constantFrom(1, 2, 3),
  });
  fc.assert(
    fc.property(input, ({ classOf, sets, filled, boost, terms }) => {
      const tournament = new Tournament(new TreeLayout(Int32Array.from(classOf), 4));
      const values = classOf.map(() => closed);
      for (const [at, one] of sets) {
        const slot = at % classOf.length;
        if (classOf[slot]! < 0) continue;
        values[slot] = one;
        if (filled) tournament.putLeaf(slot, one);
        else tournament.set(slot, one);
      }
      if (filled) tournament.rebuild();
      for (let one = 0; one < 4; one++) {
        const members = values.map((of, slot) => (classOf[slot] === one ? of : closed));
        const top = Math.max(...members);
        expect(tournament.top(one)).toBe(top);
        if (top === closed) continue;
        const scores = members.map((of) => (of + boost) / terms);
        const best = Math.max(...scores);
        expect(tournament.first(one, boost, terms, best)).toBe(scores.indexOf(best));
      }
    }),
    { numRuns: 500 },
  );
});
