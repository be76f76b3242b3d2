/** Every text is parsed, or refused with a place, and rendered within bounds. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TemplateError } from './errors.ts';
import { templateFunctions } from './functions/standard.ts';
import { parseTemplate } from './parse.ts';
import { printTemplate } from './print.test-helper.ts';
import { render, testLimits } from './template.test-helper.ts';

const options = { limits: { ...testLimits, stepsMax: 20_000 } };

function check(text: string): void {
  try {
    render(text, options);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    for (const { offset, line, column, sentence } of error.faults) {
      expect(offset).toBeGreaterThanOrEqual(0);
      expect(offset).toBeLessThanOrEqual(text.length);
      expect(line * column).toBeGreaterThan(0);
      expect(sentence).not.toBe('');
    }
  }
}

const names = [...templateFunctions.keys()];
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...names) },
  fc.constantFrom(
    '{{',
    '}}',
    '{{-',
    '-}}',
    '(',
    ')',
    '|',
    ',',
    ':=',
    '=',
    '.',
    '$',
    '$x',
    '.a',
    '.a.b',
    'if',
    'else',
    'end',
    'range',
    'with',
    'define',
    'template',
    'block',
    'break',
    'continue',
    'nil',
    'true',
    '"a"',
    '`b`',
    "'c'",
    '0',
    '1',
    '-7',
    '2.5',
    '1e3',
    '0x',
    '/*',
    '*/',
    '\\',
    '"web"',
    '"roster/jobs/shop"',
    '"{\\"a\\":[1,null]}"',
    '"local/name.txt"',
    '"%v %d %q"',
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
);

test('texts of all kinds', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), fc.boolean(), (words, isSpaced) =>
      check(words.join(isSpaced ? ' ' : '')),
    ),
    { numRuns: 3000 },
  );
});

/** A well-formed argument, so that it reaches the functions. */
const argument = fc.oneof(
  fc.constantFrom(
    'nil',
    'true',
    '.',
    '$',
    '""',
    '"a,b"',
    '0',
    '3',
    '-1',
    '2.5',
    '9223372036854775807',
  ),
  fc.constantFrom('(split "," "a,b")', '(parseJSON "{\\"a\\":[1,null,{}]}")', '(service "web")'),
  fc.constantFrom('(loop 3)', '(var "roster/jobs/shop")', '1e308', '-0.0', '"(a|b)*$"', '"%5.3v"'),
  fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text.toWellFormed())),
);

test('every function with arguments of all kinds', () => {
  const call = fc.tuple(fc.constantFrom(...names), fc.array(argument, { maxLength: 4 }));
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 3 }), (calls) =>
      check(`{{${calls.map(([name, values]) => [name, ...values].join(' ')).join(' | ')}}}`),
    ),
    { numRuns: 3000 },
  );
});

test('a printed template is read back the same', () => {
  const parse = (text: string) => parseTemplate(text, { ...options, functions: templateFunctions });
  let parsed = 0;
  const piece = fc.oneof(
    fc.constantFrom('{{$x := 1}}{{$x}}', '{{if true}}a{{else if .a}}b{{else}}c{{end}}', '  text\n'),
    fc.constantFrom('{{range $i, $v := loop 3}}{{$i}}{{break}}{{else}}-{{end}}', '{{- .a.b -}} x'),
    fc.constantFrom(
      '{{with 1}}{{.}}{{else with 2}}{{end}}',
      '{{("a" | print 1).b}}',
      '{{/* c */}}',
    ),
    fc.constantFrom(
      '{{template "t" 1}}',
      '{{print "a\\n\\"" `b` 07 1.5 -2 nil}}',
      '{{and 1 (not 0)}}',
    ),
    argument.map((value) => `{{print ${value}}}`),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const first = parse(`${pieces.join('')}{{define "t"}}[{{.}}]{{end}}`);
      const printed = printTemplate(first);
      const second = parse(printed);
      expect(printTemplate(second)).toBe(printed);
      parsed++;
      const [left, right] = [first, second].map((one) => render(one.source.text, options));
      expect(right).toEqual({
        ...left,
        ...(left?.kind === 'failed' && { error: expect.anything() }),
      });
    }),
    { numRuns: 500 },
  );
  expect(parsed).toBe(500);
});
