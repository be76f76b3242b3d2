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

it('makes neighbours that ascend, each with other first digits', () => {
  const uuid = uuidSource(randomFillSync);
  const made = ['00000000-0000-4000-8000-000000000000'];
  for (let at = 0; at < 2_000; at++) made.push(uuid(made.at(-1)));
  const begins = made.map((one) => Number.parseInt(one.slice(0, 8), 16));
  for (const [at, one] of made.entries()) {
    expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    if (at === 0) continue;
    const apart = begins[at]! - begins[at - 1]!;
    expect(apart).toBeGreaterThan(0);
    expect(apart).toBeLessThanOrEqual(256);
  }
  expect(new Set(made.map((one) => one.slice(9))).size).toBe(made.length);
});

it('makes neighbours of the last UUID that begin at 0 again', () => {
  const uuid = uuidSource(randomFillSync);
  const after = uuid('ffffffff-ffff-4fff-bfff-ffffffffffff');
  expect(Number.parseInt(after.slice(0, 8), 16)).toBeLessThan(256);
});
