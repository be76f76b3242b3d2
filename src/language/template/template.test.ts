import { describe, expect, test } from 'vitest';
import { renderFault } from '../hcl/errors.ts';
import { TemplateError } from './errors.ts';
import { render, rendered, testLimits } from './template.test-helper.ts';

const faultsOf = (text: string, options: Parameters<typeof render>[1] = {}) => {
  try {
    rendered(text, options);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  return expect.fail('it has no fault');
};

test.each([
  ['{{printf "%d" "8080"}}', '1:15: "printf": "%d" needs a whole number, not text'],
  ['a\n{{ toLowr "x" }}', '2:4: There is no function "toLowr"; did you mean "toLower"?'],
  ['{{$name := 1}}{{$nam}}', '1:17: There is no variable "$nam"; did you mean "$name"?'],
  ['{{template "a"}}', '1:3: There is no template "a"'],
  ['{{if 1}}', '1:3: This "if" has no "end"'],
  ['{{if 1}}{{else}}{{else}}{{end}}', '1:19: This "if" has an "else" already'],
  ['{{end}}', '1:3: There is no block that this "end" belongs to'],
  ['{{break}}', '1:3: "break" may only stand in "range"'],
  ['{{"a}}', '1:3: This text has no closing quote'],
  ['{{print "a"', '1:1: This action has no "}}"'],
  ['{{print "a""b"}}', '1:12: There has to be space in front of this'],
  ['{{(print 1}}', '1:3: This parenthesis is not closed'],
  ['{{1 | 2}}', '1:7: A function has to stand behind "|"'],
  ['{{/* a }}', '1:3: This comment has no end'],
  ['{{09}}', '1:3: "09" is no number'],
  ['{{99999999999999999999}}', '1:3: This number takes more than 64 bits'],
  ['{{index (split "," "a,b") 5}}', '1:27: "index": there is no item 5'],
  ['{{len 1 2}}', '1:3: "len" takes 1 argument, not 2'],
  ['{{toLower 1}}', '1:11: "toLower": text has to be text, and is a whole number'],
  ['{{"A" | indent "x"}}', '1:16: "indent": spaces has to be a whole number, and is text'],
  [
    '{{range service "web"}}{{.Prt}}{{end}}',
    '1:26: There is no field "Prt" here; did you mean "Port"?',
  ],
  ['{{mustEnv "NONE"}}', '1:11: "mustEnv": the task has no variable "NONE"'],
  ['{{service "web?dc=x"}}', '1:11: "service": after "?" it takes peer=NAME'],
  ['{{service "web?peer="}}', '1:11: "service": after "?" it takes peer=NAME'],
  ['{{divide 0 1}}', '1:10: "divide": nothing can be divided by zero'],
  ['{{add 9223372036854775807 1}}', '1:3: "add": the result takes more than 64 bits'],
  ['{{slice "é" 1}}', '1:3: "slice": a character would be cut in two: texts are counted in bytes'],
])('%s is refused with its place', (text, told) => {
  const [fault] = faultsOf(text).faults;
  expect(`${fault!.line}:${fault!.column}: ${fault!.sentence}`).toBe(told);
});

test('a fault is shown with its line and a caret, and all unknown names are reported', () => {
  const error = faultsOf('port = {{ prnt 1 }}\n{{ $x }}', { fileName: 'web.tpl' });
  expect(error.faults).toHaveLength(2);
  expect(renderFault(error.faults[0]!)).toBe(
    [
      'web.tpl:1:11: There is no function "prnt"; did you mean "print"?',
      '  1 | port = {{ prnt 1 }}',
      '    |           ^',
    ].join('\n'),
  );
});

test('delimiters can be changed', () => {
  const options = { leftDelimiter: '[[', rightDelimiter: ']]' };
  expect(rendered('{{ x }} [[- /* no */ -]] [[ "a" ]]', options)).toBe('{{ x }}a');
  expect(rendered('<% "%>" %>', { leftDelimiter: '<%', rightDelimiter: '%>' })).toBe('%>');
});

describe('a missing key', () => {
  const text = '{{(parseJSON "{}").a}}';
  test('has no value', () => expect(rendered(text)).toBe('<no value>'));
  test('is an error with `failsOnMissingKey`', () => {
    const error = faultsOf(text, { failsOnMissingKey: true });
    expect(error.message).toBe('The map has no key "a" (line 1, column 3)');
    expect(error.kind).toBe('evaluation');
  });
});

describe('a dependency', () => {
  test('is reported with the rendered text', () => {
    const text =
      '{{range service "web"}}{{.Address}}:{{.Port}} {{end}}{{(var "roster/jobs/shop").count}}';
    expect(render(text)).toEqual({
      kind: 'rendered',
      text: '10.0.0.1:8080 10.0.0.2:8081 3',
      dependencies: [
        { kind: 'service', name: 'web' },
        { kind: 'variable', name: 'roster/jobs/shop' },
      ],
    });
  });

  test('that is not known yet keeps the rendering waiting', () => {
    const text =
      '{{range service "later"}}{{.Port}}{{end}}{{file "local/none" | parseJSON}}{{(var "a").b}}';
    const first = render(text);
    expect(first).toMatchObject({ kind: 'waiting' });
    expect(first.kind === 'waiting' && first.missing.map(({ name }) => name)).toEqual([
      'later',
      'local/none',
    ]);
  });

  test('that does not exist is only missing where it is needed', () => {
    expect(render('{{(var "roster/jobs/none").a}}').kind).toBe('waiting');
    expect(rendered('{{varExists "roster/jobs/none"}}')).toBe('false');
    expect(rendered('{{range service "none"}}x{{else}}nobody{{end}}')).toBe('nobody');
  });
});

/** Without bounds, each of these would take forever or fill the memory. */
test.each([
  ['a loop over a number', '{{range 9000000000000000000}}{{end}}', /steps/],
  ['loops in loops', '{{range 100000}}{{range 100000}}{{end}}{{end}}', /steps/],
  ['a list of numbers', '{{loop 900000000000}}', /steps|larger/],
  ['a template that calls itself', '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}', /deep/],
  [
    'texts that double',
    `{{$x := "0123456789"}}{{range 64}}{{$x = print $x $x}}{{end}}`,
    /larger|steps/,
  ],
  [
    'much output',
    '{{range 90000}}0123456789012345678901234567890123456789012345678901234567890123456789{{end}}',
    /longer/,
  ],
  ['a wide column', '{{printf "%999999999d" 1}}', /widths/],
  ['a pattern', `{{regexMatch "(a{1,100}){1,100}" "b"}}`, /.*/],
  [
    'replacing',
    '{{$x := printf "%1000s" "-"}}{{range 30}}{{$x = replaceAll " " $x $x}}{{end}}',
    /larger|steps/,
  ],
  ['much indentation', '{{range 100000}}{{indent 1000 "\\n\\n\\n"}}{{end}}', /longer|larger|steps/],
  ['deep data', `{{parseJSON \`${'['.repeat(5000)}\`}}`, /deep/],
  ['deep blocks', '{{if 1}}'.repeat(5000), /nested/],
  ['deep parentheses', `{{${'('.repeat(5000)}1}}`, /nested/],
  ['many services', '{{range 1000}}{{service (print "s" .)}}{{end}}', /services/],
  [
    'lists that are printed over and over',
    '{{$x := loop 10000}}{{range 10000}}{{$y := print $x}}{{end}}',
    /larger|steps/,
  ],
])('%s meets a bound', (_name, text, sentence) => {
  const options = { limits: { ...testLimits, stepsMax: 200_000 } };
  const begun = performance.now();
  let told = '';
  try {
    told = rendered(text, options);
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    told = (error as Error).message;
  }
  expect(told).toMatch(sentence);
  expect(performance.now() - begun).toBeLessThan(2000);
});

test('a rendering that meets a bound does not wait', () => {
  const rendering = render('{{service "later"}}{{range 9000000000000}}{{end}}');
  expect(rendering.kind).toBe('failed');
});
