import { expect, test } from 'vitest';
import { agoText, byName, oneLine, span } from './text.ts';

test.each([
  [0, '0s'],
  [-5000, '0s'],
  [999, '0s'],
  [59_000, '59s'],
  [60_000, '1m'],
  [310_000, '5m10s'],
  [3_600_000, '1h'],
  [3_605_000, '1h'],
  [90_061_000, '1d1h'],
])('%i ms are %s', (durationMs, expected) => {
  expect(span(durationMs)).toBe(expected);
});

test.each([
  ['2025-12-31T23:59:00Z', '1m ago'],
  ['0001-01-01T00:00:00Z', '-'],
  [null, '-'],
])('%s was %s', (text, expected) => {
  expect(agoText(text, Date.UTC(2026, 0, 1))).toBe(expected);
});

test.each([
  ['a\nb', 'a b'],
  ['\u001b[31mred\u001b[0m', '[31mred [0m'],
  ['a\u2028\u0085b', 'a b'],
  ['  Grüße 🎉  ', 'Grüße 🎉'],
])('%j is printed as %s', (text, expected) => {
  expect(oneLine(text)).toBe(expected);
});

test('names are sorted by their numbers', () => {
  const names = ['b.x[10]', 'b.x[9]', 'a.x[11]', 'b.w[12]', 'plain'].map((Name) => ({ Name }));
  const sorted = names.sort(byName).map(({ Name }) => Name);
  expect(sorted).toEqual(['a.x[11]', 'b.w[12]', 'b.x[9]', 'b.x[10]', 'plain']);
});
