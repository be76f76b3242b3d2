import { expect, test } from 'vitest';
import { type Defence, defenceNames } from '../../src/node/defences.ts';
import { attempts } from './table.ts';

test('each attempt has its own name', () => {
  const names = attempts.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('every defence prevents at least one attempt', () => {
  const lifted = attempts.flatMap(({ counter }): readonly Defence[] =>
    typeof counter === 'object' && 'without' in counter ? counter.without : [],
  );
  expect(defenceNames.filter((name) => !lifted.includes(name))).toEqual([]);
});
