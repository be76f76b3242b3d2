import { expect, test } from 'vitest';
import { testsLeftOut } from './left-out.ts';
import { makeTree } from './tree.test-helper.ts';

// In parts, as this file is looked at as well.
const line = (...parts: string[]): string => parts.join('');

test.each([
  line('test', ".skip('name', () => {});"),
  line('describe', ".runIf(isRoot)('name', () => {});"),
  line('it', ".skipIf(process.arch !== 'x64')('name', () => {});"),
  line('describe.concurrent', ".skip('name', () => {});"),
  line('test', ".todo('name');"),
  line('test', ".only('name', () => {});"),
  line('test', ".fails('name', () => {});"),
  line("test('name', { sk", 'ip: !isRoot }, () => {});'),
  line("test('name', { sk", 'ip: true }, () => {});'),
  line('x', "describe('name', () => {});"),
  line('con', 'text.skip();'),
])('%s is refused', (text) => {
  const root = makeTree({ 'src/deep/some.test.ts': `\n${text}\n` });
  expect(testsLeftOut(root)).toEqual([`src/deep/some.test.ts:2: ${text}`]);
});

test.each([
  "test('name', needing(root), () => {});",
  'list.skip(3);',
  'return group.only ?? group.verdict;',
])('%s is no test that is left out', (text) => {
  expect(testsLeftOut(makeTree({ 'test/some.test.ts': text }))).toEqual([]);
});
