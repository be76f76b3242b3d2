import { expect, test } from 'vitest';
import { haveSameText } from './same-text.ts';

const row = { Name: 'web', Count: 2, Tags: ['a', 'b'], Task: { Driver: 'exec', User: null } };

test.each([
  ['a copy', structuredClone(row)],
  ['a field without a value', { ...row, Extra: undefined }],
])('%s has the same text', (_, other) => expect(haveSameText(row, other)).toBe(true));

test.each([
  ['another value', { ...row, Count: 3 }],
  ['another value below', { ...row, Task: { Driver: 'exec', User: '' } }],
  ['a field more', { ...row, Extra: null }],
  ['a field less', { Name: 'web', Count: 2, Tags: ['a', 'b'] }],
  ['another name', { ...row, Task: { Driver: 'exec', Owner: null } }],
  ['another order of fields', { Count: 2, Name: 'web', Tags: row.Tags, Task: row.Task }],
  ['another order of items', { ...row, Tags: ['b', 'a'] }],
  ['an item more', { ...row, Tags: ['a', 'b', 'c'] }],
  ['an object for a list', { ...row, Tags: { 0: 'a', 1: 'b' } }],
  ['nothing', undefined],
])('%s has another text', (_, other) => expect(haveSameText(row, other)).toBe(false));
