import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scalingPolicyId } from './policy-id.ts';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('it is the same for the same parts, and never changes', () => {
  expect(scalingPolicyId(['default', 'web', 'web'])).toBe('e106358c-e7b8-8ec1-8ee1-c0737239d96b');
});

test('it has the form of an id, and differs for different parts', () => {
  const parts = fc.array(fc.oneof(fc.string(), fc.constantFrom('a', 'b', 'ab', '')), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(parts, parts, (left, right) => {
      expect(scalingPolicyId(left)).toMatch(form);
      const isSame = JSON.stringify(left) === JSON.stringify(right);
      expect(scalingPolicyId(left) === scalingPolicyId(right)).toBe(isSame);
    }),
  );
});

test('a hundred thousand similar names have as many ids, most with different first parts', () => {
  const ids = new Set<string>();
  const firsts = new Set<string>();
  for (let n = 0; n < 100_000; n++) {
    const id = scalingPolicyId(['default', `job-${n}`, 'web']);
    ids.add(id);
    firsts.add(id.slice(0, 8));
  }
  expect(ids.size).toBe(100_000);
  expect(firsts.size).toBeGreaterThan(99_990);
});
