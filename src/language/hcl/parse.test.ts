import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HclError } from './errors.ts';
import { type HclOptions, parseHcl, parseHclExpression } from './parse.ts';
import type { HclNode } from './syntax.ts';
import { anyBody, print, printBody, withoutRanges } from './tree.test-helper.ts';
import { childrenOf } from './walk.ts';

const shown = (text: string): string => print(withoutRanges(parseHclExpression(text)));

function failure(text: string, options: HclOptions = {}): HclError {
  try {
    parseHcl(text, options);
  } catch (error) {
    if (error instanceof HclError) return error;
    throw error;
  }
  throw new Error(`parsed: ${text}`);
}

const places = (text: string, options: HclOptions = {}): readonly string[] =>
  failure(text, options).faults.map(({ line, column }) => `${line}:${column}`);

describe('expressions', () => {
  test.each([
    // literals
    ['01.50', '1.5'],
    ['1e+3', '1000'],
    ['true', 'true'],
    ['"a\\n\\"\\u00e9\\U0001F600"', '"a\\n\\"é😀"'],
    ['"$${a} %%{b} $$${c} 5% $x"', '"\\u0024{a} \\u0025{b} \\u0024\\u0024{c} 5% $x"'],
    // precedence
    ['1+2*3', '1 + 2 * 3'],
    ['a || b && c == d', 'a || b && c == d'],
    ['(a || b) && c', '(a || b) && c'],
    ['a - b - c', 'a - b - c'],
    ['-a.b + !c', '-a.b + !c'],
    ['a-b', 'a-b'],
    ['a ? b : c ? d : e', 'a ? b : c ? d : e'],
    // collections
    ['[1,\n2,\n]', '[1, 2]'],
    ['{a = 1, "b" : 2\n (c) = 3\n}', '{ "a" = 1, "b" = 2, (c) = 3 }'],
    ['{true = 1, a.b = 2}', '{ "true" = 1, a.b = 2 }'],
    ['[for x in y: x if x > 1]', '[for x in y : x if x > 1]'],
    ['{\nfor k, v in m :\nk => v...\n}', '{for k, v in m : k => v...}'],
    // what follows a value
    ['a.b[0]["c"].d', 'a.b[0]["c"].d'],
    ['a.0.b', 'a[0].b'],
    ['a.*.b.0[1]', 'a.*.b.0[1]'],
    ['a[*].b[*].c[0]', 'a[*].b[*].c[0]'],
    ['f(a, [1]...)', 'f(a, [1]...)'],
    ['a::b(\n1,\n)', 'a::b(1)'],
    // templates
    ['"a${ b }c"', '"a${ b }c"'],
    ['"a ${~ b ~} c"', '"a${ b }c"'],
    ['"%{ if a }1%{ else }2%{ endif }"', '"%{ if a }1%{ else }2%{ endif }"'],
    ['"%{ for k, v in m ~} ${v} %{~ endfor }"', '"%{ for k, v in m }${ v }%{ endfor }"'],
    ['"${ {a = "}"} }"', '"${ { "a" = "}" } }"'],
    // newlines and comments within brackets
    ['(a # one\n + b // two\n /* three */)', '(a + b)'],
  ])('%s', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test('an attribute splat takes names, a full splat all steps', () => {
    const item = { kind: 'splat-item' };
    expect(withoutRanges(parseHclExpression('a.*.b[0]'))).toMatchObject({
      kind: 'index',
      of: { kind: 'splat', style: 'attribute', item: { kind: 'get-attribute', of: item } },
    });
    expect(withoutRanges(parseHclExpression('a[*].b[0]'))).toMatchObject({
      kind: 'splat',
      style: 'full',
      item: { kind: 'index', of: { kind: 'get-attribute', of: item } },
    });
  });

  test('left-associative chains, and operators of one level', () => {
    expect(parseHclExpression('a - b + c')).toMatchObject({
      operator: '+',
      left: { operator: '-' },
    });
  });
});

describe('heredocs', () => {
  test.each([
    ['<<E\n a\n  b\nE\n', ' a\n  b\n'],
    ['<<E\na\n \tE \n', 'a\n'],
    ['<<E\r\na\r\nE\r\n', 'a\r\n'],
    ['<<E\nE x\nE\n', 'E x\n'],
    ['<<E\n\\n "$${x}"\nE\n', '\\n "${x}"\n'],
    ['<<-E\n    a\n  b\n\n \n   c\n E\n', '  a\nb\n\n \n c\n'],
    ['<<-E\n\t\ta\n  b\nE\n', 'a\nb\n'],
    ['<<E\nE\n', ''],
  ])('%j', (text, expected) => {
    expect(parseHclExpression(text)).toMatchObject({ kind: 'literal', value: expected });
  });

  test.each([
    // A trim marker reaches to the end of its line.
    ['<<E\na\n  ${~ x ~}\n   b\nE\n', '"a\\n${ x }   b\\n"'],
    ['<<E\n%{ if x ~}\n  a\n%{ endif ~}\nb\nE\n', '"%{ if x }  a\\n%{ endif }b\\n"'],
    // A sequence at the start of a line has no spaces. Spaces before a sequence count.
    ['<<-E\n${x}\n   b\nE\n', '"${ x }\\n   b\\n"'],
    ['<<-E\n   ${x}\n    b\n  E\n', '"${ x }\\n b\\n"'],
    ['<<-E\n      a\n  ${x ~}   \n     b\n   c\n  E\n', '"    a\\n${ x }     b\\n c\\n"'],
  ])('%j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });
});

describe('bodies', () => {
  test('attributes, blocks, labels', () => {
    const text = 'a = 1 # one\n\nb "c" d {\n  e {}\n  f { g = "h" }\n}\na {}\n';
    expect(printBody(withoutRanges(parseHcl(text)))).toBe(
      'a = 1\nb "c" d {\n  e {\n  }\n  f {\n    g = "h"\n  }\n}\na {\n}\n',
    );
  });

  test.each(['', ' \n', '# a', '/* a\n*/', '\uFEFFa = 1', 'a=1\r\nb=2'])('%j', (text) => {
    expect(parseHcl(text).kind).toBe('body');
  });

  test.each([
    ['a "b" { c = 1 d = 2 }', 'a "b" {\n  c = 1\n  d = 2\n}\n'],
    ['a { b = 1, c { } d = 2, }', 'a {\n  b = 1\n  c {\n  }\n  d = 2\n}\n'],
    ['a = 1 b = 2', 'a = 1\nb = 2\n'],
    ['a "b"\n{\nc =\n1 }', 'a "b" {\n  c = 1\n}\n'],
    ['"a" = 1\n"b" "c" {}', 'a = 1\nb "c" {\n}\n'],
    ['a = 1\na = 2', 'a = 1\na = 2\n'],
    ['a = { b { c = 1 } }', 'a = { "b" = { "c" = 1 } }\n'],
    ['a = [{ b { c = 1 } "d" = 2 e = 3 }]', 'a = [{ "b" = { "c" = 1 }, "d" = 2, "e" = 3 }]\n'],
    ['a = [\n{\nb\n{ c =\n1 }, d = 2\n},\n]', 'a = [{ "b" = { "c" = 1 }, "d" = 2 }]\n'],
  ])('of HCL1: %j', (text, expected) => {
    expect(printBody(withoutRanges(parseHcl(text, { hcl1Blocks: true })))).toBe(expected);
    expect(failure(text).faults.length).toBeGreaterThan(0);
  });
});

describe('errors name the place', () => {
  test.each<[text: string, place: string, sentence: string]>([
    ['a', '1:2', 'Expected "=" and a value, a label, or "{", found the end of the text'],
    ['a =', '1:4', 'Expected a value, found the end of the text'],
    ['a = = 3', '1:5', 'Expected a value, found "="'],
    ['a =\n1', '1:4', 'Expected a value, found the end of the line'],
    ['a = 1 b = 2', '1:7', 'Expected a new line after the value, found "b"'],
    ['a {} b {}', '1:6', 'Expected a new line after the block, found "b"'],
    ['a { b = 1, c = 2 }', '1:10', 'Expected "}": a block on one line holds one argument at most,'],
    ['a { b {} }', '1:7', 'Expected "=" and a value: a block on one line holds no block'],
    ['a {\nb = 1', '1:3', 'This "{" is not closed by "}"'],
    ['a = 1\n}', '2:1', 'Expected the name of an attribute or block, found "}"'],
    ['a = 1 }', '1:7', 'This "}" closes nothing'],
    ['"a" = 1', '1:1', 'Expected a name without quotes, found a string'],
    ['a "${b}" {}', '1:3', 'A label is plain text; write "$${" or "%%{"'],
    ['a = 1\na = 2', '2:1', '"a" is set already on line 1'],
    ['a = [1 2]', '1:8', 'Expected "," or "]", found "2"'],
    ['a = [1,', '1:8', 'Expected a value, found the end of the text'],
    ['a = (1', '1:5', 'This "(" is not closed by ")"'],
    ['a = {b}', '1:7', 'Expected "=" after the key, found "}"'],
    ['a = {b = 1 c = 2}', '1:12', 'Expected ",", a new line or "}", found "c"'],
    ['a = {for = 1}', '1:10', 'Expected a name for the element after "for", found "="'],
    ['a = [for x in y: k => v]', '1:20', 'Expected no key: "[" makes a tuple'],
    ['a = [for x in y: x...]', '1:19', 'Expected no grouping: "[" makes a tuple'],
    ['a = {for x in y: x}', '1:19', 'Expected "=>" after the key, found "}"'],
    ['a = b ? c', '1:10', 'Expected ":" and what holds otherwise'],
    ['a = 1.2.3', '1:5', '"1.2.3" is not a number that can be kept'],
    ['a = 1e999', '1:5', '"1e999" is not a number that can be kept'],
    ['a = b.0.1', '1:7', '"0.1" is not one index; write the indexes in brackets'],
    ['a = b.*.c.*', '1:11', 'Expected a name: ".*" cannot be used within another one'],
    ['a = b[0', '1:6', 'This "[" is not closed by "]"'],
    ['a = f(1..., 2)', '1:11', 'Expected ")" after "...", found ","'],
    ['a = "b', '1:5', 'This string is not closed'],
    ['a = "b\n"', '1:5', 'The string is not closed on its line'],
    ['a = "\\x"', '1:6', 'Unknown escape in a string; known are \\n, \\r'],
    ['a = "\\ud800"', '1:6', 'Unknown escape in a string'],
    ['a = "${b c}"', '1:10', 'Expected "}", found "c"'],
    ['a = "%{ if b }"', '1:6', 'This "if" is not closed by "endif"'],
    ['a = "%{ endif }"', '1:6', 'This "endif" belongs to no directive'],
    ['a = "%{ if b }%{ endfor }"', '1:15', 'Expected "endif", found "endfor"'],
    ['a = "%{ if b }%{ else }%{ else }"', '1:24', 'This "if" has an "else" already'],
    ['a = "%{ while }"', '1:9', 'Expected "if", "else", "endif", "for" or "endfor"'],
    ['a = <<E\nb\nE', '1:5', 'This heredoc is not closed by a line with only E'],
    ['a = <<E b\nE\n', '1:5', '"<<" opens a heredoc: write a word and a new line after it'],
    ['a = b & c', '1:7', 'Unexpected "&"; write "&&"'],
    ["a = 'b'", '1:5', 'Unexpected "\'"; use double quotes'],
    ['/* a', '1:1', 'This comment is not closed by "*/"'],
  ])('%j', (text, place, sentence) => {
    const error = failure(text);
    expect(`${error.line}:${error.column}`).toBe(place);
    expect(error.sentence).toContain(sentence);
  });

  test('the excerpt has a caret below the place', () => {
    const { excerpt, message } = failure('x = 1\n\ta = = 3\n');
    expect(excerpt).toBe(' a = = 3\n     ^');
    expect(message).toBe('Expected a value, found "=" (line 2, column 6)');
    const long = failure(`a = "${'x'.repeat(100)}" = "${'y'.repeat(100)}"`).excerpt.split('\n');
    expect(long[0]).toMatch(/^…x+" = "y+…$/);
    expect(long[0]![long[1]!.indexOf('^')]).toBe('=');
  });

  test('faults in several items are reported together', () => {
    const text = [
      'a = = 3',
      'b {',
      '  c = [1 2]',
      '  d = "fine ${ {e = "}"} }"',
      '  e = {',
      '    x = = 2',
      '  }',
      '  f',
      '}',
      'g = 1 2',
      'h = 5',
      'h = 6',
    ].join('\n');
    expect(places(text)).toEqual(['1:5', '3:10', '6:9', '8:4', '10:7', '12:1']);
    expect(failure(text).message).toMatch(/ and 5 more$/);
  });

  test('an item whose end cannot be found ends the reading', () => {
    expect(places('a = = 1\nb = "x\nc = = 2')).toEqual(['1:5', '2:5']);
    expect(places('a = [\nb = = 2\n')).toEqual(['2:3']);
  });

  test('no more faults are reported than the limit', () => {
    expect(places('a = =\n'.repeat(100), { faultsMax: 3 })).toHaveLength(3);
    expect(places('a = 1\n'.repeat(100), { faultsMax: 3 })).toHaveLength(3);
  });
});

test('every node has its place', () => {
  const text = 'a "b" {\n  c = f(x.y, "é${z}")[0]\n}\n';
  const written: string[] = [];
  const visit = (node: HclNode): void => {
    const { start, end } = node.range;
    written.push(
      `${node.kind} ${start.line}:${start.column} ${text.slice(start.offset, end.offset)}`,
    );
    for (const child of childrenOf(node)) visit(child);
  };
  visit(parseHcl(text));
  expect(written.slice(2)).toEqual([
    'label 1:3 "b"',
    'body 1:7 {\n  c = f(x.y, "é${z}")[0]\n}',
    'attribute 2:3 c = f(x.y, "é${z}")[0]',
    'index 2:7 f(x.y, "é${z}")[0]',
    'call 2:7 f(x.y, "é${z}")',
    'get-attribute 2:9 x.y',
    'variable 2:9 x',
    'template 2:14 "é${z}"',
    'text 2:15 é',
    'interpolation 2:16 ${z}',
    'variable 2:18 z',
    'literal 2:23 0',
  ]);
});

describe('hostile texts are refused soon', () => {
  const many = 100_000;
  test.each<[name: string, text: string, sentence: RegExp]>([
    ['parentheses', `a = ${'('.repeat(many)}`, /nested more than 128 deep/],
    ['tuples', `a = ${'['.repeat(many)}`, /nested more than/],
    ['objects', `a = ${'{a = '.repeat(many)}`, /nested more than/],
    ['blocks', 'a {\n'.repeat(many), /nested more than/],
    ['signs', `a = ${'-'.repeat(many)}1`, /nested more than/],
    ['sums', `a = 1${' + 1'.repeat(many / 2)}`, /nested more than/],
    ['names', `a = b${'.b'.repeat(many)}`, /nested more than/],
    ['splats', `a = b${'[*]'.repeat(many)}`, /nested more than/],
    ['conditions', `a = ${'a ? b : '.repeat(many)}`, /nested more than/],
    ['strings', `a = ${'"${'.repeat(many)}`, /nested more than/],
    ['heredocs', `a = ${'<<E\n${'.repeat(many)}`, /nested more than/],
    ['directives', `a = "${'%{if a}'.repeat(5000)}${'%{endif}'.repeat(5000)}"`, /nested more than/],
    ['items', `a = [${'1,'.repeat(2.5 * many)}]`, /more than 200000 parts/],
    ['length', ' '.repeat(2 ** 20 + 1), /longer than 1048576 characters/],
  ])('%s', (_, text, sentence) => {
    expect(failure(text).sentence).toMatch(sentence);
  });

  test.each([
    ['sequences on one line', `a = <<E\n${'${a}'.repeat(many / 4)}\nE\n`],
    ['comments', '/**/'.repeat(many)],
    ['letters outside of ASCII', `${'é'.repeat(many)} = 1`],
    ['signs of sequences', `a = "${'$'.repeat(many)}{"`],
  ])('many %s are fine', (_, text) => {
    expect(parseHcl(text).kind).toBe('body');
  });
});

describe('properties', () => {
  test('a printed tree is read back the same', () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        expect(withoutRanges(parseHcl(printBody(body)))).toEqual(body);
        expect(withoutRanges(parseHcl(printBody(body), { hcl1Blocks: true }))).toEqual(body);
      }),
      { numRuns: 200 },
    );
  });

  const pieces = [
    'a',
    'b',
    '1',
    '.5',
    '"',
    '"x"',
    '${',
    '}',
    '%{if a}',
    '%{endif}',
    '~',
    '[',
    ']',
    '(',
    ')',
    '{',
    '\n',
    '=',
    ' ',
    ',',
    '.',
    '*',
    '-',
    '!',
    '=>',
    '...',
    '?',
    ':',
    '::',
    '&&',
    '<<E\n',
    '\nE\n',
    '#',
    '/*',
    '*/',
    '//',
    'for',
    'x in y:',
    'if',
    '\\',
    'é',
    '$',
    '\r',
    '\u0000',
    '\ud800',
  ];
  const junk = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
    fc
      .tuple(
        anyBody.map((body) => printBody(body)),
        fc.nat(),
        fc.nat({ max: 9 }),
        fc.constantFrom(...pieces),
      )
      .map(([text, at, length, piece]) => {
        const start = at % (text.length + 1);
        return text.slice(0, start) + piece + text.slice(start + length);
      }),
  );

  test('junk throws nothing but errors with places in the text', () => {
    fc.assert(
      fc.property(junk, fc.boolean(), (text, hcl1Blocks) => {
        try {
          parseHcl(text, { hcl1Blocks });
        } catch (error) {
          if (!(error instanceof HclError)) throw error;
          for (const { offset, line, column, excerpt } of error.faults) {
            const before = text.slice(0, offset).split('\n');
            expect([line, column]).toEqual([before.length, before.at(-1)!.length + 1]);
            expect(offset).toBeLessThanOrEqual(text.length);
            expect(excerpt.split('\n')).toHaveLength(2);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
