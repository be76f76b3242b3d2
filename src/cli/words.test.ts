import { expect, test } from 'vitest';
import { locate, normalizeWords } from './words.ts';

test.each([
  ['-json', '--json'],
  ['--json', '--json'],
  ['-check-index 5', '--check-index 5'],
  ['-check-index=5', '--check-index=5'],
  ['-policy-name=a --role-name b', '--policy=a --role b'],
  ['--constructor', '--constructor'],
  ['-t={{.ID}}', '-t{{.ID}}'],
  ['-n 5', '-n 5'],
  ['-n5', '-n5'],
  ['-f', '-f'],
  ['-', '-'],
  ['-5', '-5'],
  ['job run -detach -', 'job run --detach -'],
  ['job run -- -detach', 'job run -- -detach'],
])('%s is read as %s', (given, expected) => {
  expect(normalizeWords(given.split(' ')).join(' ')).toBe(expected);
});

test.each([
  ['job run file', 'job run'],
  ['--address http://x job run', 'job run'],
  ['--address=http://x job run', 'job run'],
  ['job --json run', 'job run'],
  ['job --token run status', 'job status'],
  ['version', 'version'],
  ['job', undefined],
  ['job walk', undefined],
  ['run', undefined],
  ['constructor', undefined],
  ['', undefined],
])('%s names %s', (given, expected) => {
  expect(locate(given.split(' ')).entry?.words.join(' ')).toBe(expected);
});
