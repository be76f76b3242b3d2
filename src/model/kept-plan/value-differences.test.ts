import { expect, test } from 'vitest';
import { valueDifferences } from './value-differences.ts';

test.each<[string, unknown, unknown, readonly string[]]>([
  ['nothing', { A: 1 }, { A: 1 }, []],
  ['a value', { A: 1 }, { A: 2 }, ['A: 1 > 2']],
  ['a nested value', { A: { B: 'x' } }, { A: { B: 'y' } }, ['A.B: x > y']],
  ['an item of a list', { A: [1, 2] }, { A: [1, 3, 4] }, ['A[1]: 2 > 3', 'A[2]:  > 4']],
  ['a new record', undefined, { A: 'x', B: '', C: 0, D: null, E: false }, ['A:  > x']],
  ['a deleted record', { A: true, B: [] }, undefined, ['A: true > ']],
  ['a record in place of a value', { A: 'x' }, { A: { B: 1 } }, ['A: x > {"B":1}']],
  ['a list that becomes empty', { A: ['x'] }, { A: null }, ['A[0]: x > ']],
  ['a value that becomes false', { A: true }, { A: false }, ['A: true > false']],
])('%s', (_, before, after, expected) => {
  const found = [...valueDifferences('it', before, after)];
  expect(found.map(({ Path, Old, New }) => `${Path}: ${Old} > ${New}`)).toEqual(expected);
});
