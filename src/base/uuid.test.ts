import { randomFillSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { uuidSource } from './uuid.ts';

it('makes random UUIDs of version 4, each another', () => {
  const uuid = uuidSource(randomFillSync);
  const made = Array.from({ length: 2_000 }, uuid);
  for (const one of made) {
    expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  expect(new Set(made).size).toBe(made.length);
  // Every digit that is not fixed takes every value.
  for (const place of [0, 7, 9, 15, 20, 24, 35]) {
    expect(new Set(made.map((one) => one[place])).size).toBe(16);
  }
});
