/**
 * Compares our templates with the reference implementation of the language. Its results for a corpus are
 * stored (test/golden/templates, with the program that made them). `differences` has the reasons for
 * differences on purpose.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { render } from './template.test-helper.ts';

interface Outcome {
  readonly template: string;
  readonly output: string;
  readonly refused?: 'parse' | 'run';
}

const path = new URL('../../../test/golden/templates/expected.json', import.meta.url);
const { outcomes } = JSON.parse(readFileSync(path, 'utf8')) as { outcomes: readonly Outcome[] };

/** Our results, by the end of the template. */
const differences: readonly (readonly [end: string, ours: string, why: string])[] = [
  ['{{1 |}}', 'refused', 'a pipe leads somewhere'],
  ['{{.a .b}}', 'refused failed', 'only functions take arguments, also where there is no data'],
  ['{{$d.n.x}}', '<no value>', 'a null in data is as nothing else that is not there'],
];

const differenceOf = ({ template }: Outcome) => differences.find(([end]) => template.endsWith(end));

function ours(template: string): string {
  try {
    const rendering = render(template);
    return rendering.kind === 'rendered' ? rendering.text : `refused ${rendering.kind}`;
  } catch (error) {
    if ((error as Error).name === 'TemplateError') return 'refused';
    throw error;
  }
}

const same = outcomes.filter((outcome) => differenceOf(outcome) === undefined);

describe('like the reference implementation', () => {
  test.each(same)('$template', ({ template, output, refused }) => {
    const result = ours(template);
    if (refused === undefined) expect(result).toBe(output);
    else expect(result).toMatch(/^refused/);
  });
});

describe('unlike the reference implementation', () => {
  test.each(differences)('…%s is %s: %s', (end, expected) => {
    const different = outcomes.filter(({ template }) => template.endsWith(end));
    expect(different).toHaveLength(1);
    const { template, output, refused } = different[0]!;
    expect(ours(template)).toBe(expected);
    expect(refused === undefined ? output : 'refused').not.toBe(expected);
  });
});
