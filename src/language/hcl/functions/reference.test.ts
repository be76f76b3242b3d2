/** docs/reference/hcl.md has every function, and every example in it is true. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { functionsWithoutFiles, valueOfText } from '../evaluation.test-helper.ts';
import { identityOf } from '../value.ts';

const page = readFileSync(new URL('../../../../docs/reference/hcl.md', import.meta.url), 'utf8');
const row = /^\| `(\w+)\(([^`]*)\)` \| .*\| `([^`]+)` \| `([^`]+)` \|$/;
const rows = page.split('\n').flatMap((line) => {
  const found = row.exec(line);
  return found === null ? [] : [found.slice(1) as [string, string, string, string]];
});

test('has every function', () => {
  const told = rows.map(([name]) => name).sort();
  expect(told).toEqual([...functionsWithoutFiles.keys()].sort());
});

describe('examples', () => {
  test.each(rows)('%s(%s): %s is %s', (name, _, example, result) => {
    expect(example).toContain(`${name}(`);
    const value = valueOfText(example);
    expect(identityOf(value), `it is ${JSON.stringify(value)}`).toBe(
      identityOf(valueOfText(result)),
    );
  });
});

describe('parameters are documented', () => {
  const parameters = rows.filter(([name]) => {
    const known = functionsWithoutFiles.get(name);
    return known?.kind === 'values' && name !== 'range';
  });
  test.each(parameters)('%s(%s)', (name, told) => {
    const known = functionsWithoutFiles.get(name)!;
    if (known.kind !== 'values') throw new Error('only those with parameters');
    const names = known.parameters.map((one) => (one.isOptional ? `[${one.name}]` : one.name));
    if (known.rest !== undefined) names.push(`${known.rest.name}...`);
    expect(told).toBe(names.join(', '));
  });
});
