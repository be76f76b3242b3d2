import { expect, test } from 'vitest';
import { drawn } from './draw.ts';

const rows = Array.from({ length: 95 }, (_, index) => ({ name: `row ${index}` }));

test('without a commit all rows run', () => {
  expect(drawn(rows, 'all')).toEqual(rows);
});

test('a commit draws a tenth of the rows, in table order and always the same rows', () => {
  const chosen = drawn(rows, 'a1b2c3');
  expect(chosen).toHaveLength(10);
  expect(chosen).toEqual(rows.filter((row) => chosen.includes(row)));
  expect(drawn(rows, 'a1b2c3')).toEqual(chosen);
});

test('over many commits every row is drawn', () => {
  const commits = Array.from({ length: 200 }, (_, index) => `commit ${index}`);
  expect(new Set(commits.flatMap((commit) => drawn(rows, commit)))).toEqual(new Set(rows));
});
