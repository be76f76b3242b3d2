import { expect, test } from 'vitest';
import { type Defence, defenceNames } from '../../src/node/defences.ts';
import { attempts } from './table.ts';

test('each attempt has a name of its own', () => {
  const names = attempts.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('there is no defence that no attempt is kept from by', () => {
  const lifted = attempts.flatMap(({ counter }): readonly Defence[] =>
    typeof counter === 'object' && 'without' in counter ? counter.without : [],
  );
  expect(defenceNames.filter((name) => !lifted.includes(name))).toEqual([]);
});
