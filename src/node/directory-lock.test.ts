import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { holdDirectory } from './directory-lock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roster-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('a directory has one holder at a time, until it is released', () => {
  const release = holdDirectory(directory);
  expect(() => holdDirectory(directory)).toThrow(`${directory} is in use by another agent`);
  release();
  holdDirectory(directory)();
  expect(readdirSync(directory)).toEqual(['agent.lock']);
});

test('a missing directory cannot be held', () => {
  expect(() => holdDirectory(join(directory, 'no'))).toThrow(/no cannot be used: unable to open/);
});
