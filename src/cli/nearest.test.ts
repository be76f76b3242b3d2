import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

test.each([
  ['data-dir', 'data_dir'],
  ['log_levl', 'log_level'],
  ['http', 'http'],
  ['htpp', 'http'],
  ['hppx', undefined],
  ['something_else', undefined],
  ['', undefined],
])('"%s" is meant to be %s', (given, expected) => {
  expect(nearest(given, ['data_dir', 'log_level', 'http'])).toBe(expected);
});
