import { expect, test } from 'vitest';
import { drawn } from './draw.ts';

const rows = Array.from({ length: 95 }, (_, index) => ({ name: `row ${index}` }));

test('all rows run where nobody draws', () => {
  expect(drawn(rows, 'all')).toEqual(rows);
});

test('a commit draws a tenth, in the order of the table and always the same', () => {
  const chosen = drawn(rows, 'a1b2c3');
  expect(chosen).toHaveLength(10);
  expect(chosen).toEqual(rows.filter((row) => chosen.includes(row)));
  expect(drawn(rows, 'a1b2c3')).toEqual(chosen);
});

test('commits draw every row in time', () => {
  const commits = Array.from({ length: 200 }, (_, index) => `commit ${index}`);
  expect(new Set(commits.flatMap((commit) => drawn(rows, commit)))).toEqual(new Set(rows));
});
