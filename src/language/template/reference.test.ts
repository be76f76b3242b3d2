/** docs/reference/templates.md has every function, and every example in it is true. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { templateFunctions } from './functions/standard.ts';
import { rendered } from './template.test-helper.ts';

const path = new URL('../../../docs/reference/templates.md', import.meta.url);
const row = /^\| `(\w+)([^`]*)` \| .* \| `(\{\{(?:[^|]|\\\|)*)` \| `([^`]*)` \|$/;
const rows = readFileSync(path, 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, name, parameters, example, result] = row.exec(line) ?? [];
    if (name === undefined) return [];
    const plain = (text = ''): string => text.replaceAll('\\|', '|');
    return [[name, parameters!.trim(), plain(example), plain(result)] as const];
  });

test('has every function', () => {
  expect(rows.map(([name]) => name).sort()).toEqual([...templateFunctions.keys()].sort());
});

test.each(rows)('%s %s: %s is %s', (name, _parameters, example, result) => {
  expect(example).toContain(name);
  expect(rendered(example).replaceAll('\n', '\\n')).toBe(result);
});

describe('parameters are documented', () => {
  test.each(rows)('%s %s', (name, told) => {
    expect(told).toBe(templateFunctions.get(name)!.parameters.replaceAll(',', ''));
  });
});
