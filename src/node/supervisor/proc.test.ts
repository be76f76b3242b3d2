import { expect, test } from 'vitest';
import { isAlive, isEnded, parseStat, readStat } from './proc.ts';

const tail = 'S 1 42 43 0 -1 4194560 0 7 0 0 0 0 0 0 20 0 1 0 987654 0 0';

test.each([
  ['a plain name', `42 (cat) ${tail}`],
  ['a name with spaces and parentheses', `42 (my (odd) ) name) ${tail}`],
])('stat of %s', (_name, text) => {
  expect(parseStat(text)).toEqual({
    pid: 42,
    state: 'S',
    parent: 1,
    group: 42,
    session: 43,
    childFaults: 7,
    threads: 1,
    startTime: '987654',
  });
});

test('a process is alive only under its own start time', () => {
  const { startTime } = readStat(process.pid)!;
  expect(isAlive(process.pid, startTime)).toBe(true);
  expect(isAlive(process.pid, String(Number(startTime) + 1))).toBe(false);
});

test.each([
  ['S', 3, false],
  ['Z', 1, true],
  ['Z', 2, false],
])('a process in state %s with %i threads has ended: %s', (state, threads, expected) => {
  expect(isEnded({ ...readStat(process.pid)!, state, threads })).toBe(expected);
});
