import { expect, test } from 'vitest';
import { Freshness } from './freshness.ts';

test('a state is as old as the last word of the leader that it has reached', () => {
  const freshness = new Freshness(100);
  expect(freshness.currentMs(5)).toBe(100);
  freshness.told(5, 200);
  expect(freshness.currentMs(5)).toBe(200);
  freshness.told(7, 300);
  freshness.told(9, 400);
  expect(freshness.currentMs(6)).toBe(200);
  expect(freshness.currentMs(8)).toBe(300);
  expect(freshness.currentMs(9)).toBe(400);
});

test('a leader that stays where it is renews its word', () => {
  const freshness = new Freshness(0);
  freshness.told(5, 100);
  freshness.told(5, 900);
  expect(freshness.currentMs(4)).toBe(0);
  expect(freshness.currentMs(5)).toBe(900);
});

test('a state that is behind for long is not taken for a newer one, however often the leader tells', () => {
  const freshness = new Freshness(0);
  for (let index = 1; index <= 10_000; index++) freshness.told(index, index);
  expect(freshness.currentMs(0)).toBe(0);
  for (const shown of [1, 30, 5000, 9999]) {
    expect(freshness.currentMs(shown)).toBeLessThanOrEqual(shown);
  }
  expect(freshness.currentMs(10_000)).toBe(10_000);
});

test('a server that leads has the newest state', () => {
  const freshness = new Freshness(0);
  freshness.told(5, 100);
  freshness.lead(700);
  expect(freshness.currentMs(0)).toBe(700);
});
