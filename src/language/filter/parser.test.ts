import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FilterError } from './errors.ts';
import { filterLimits } from './filter.ts';
import { parseFilter } from './parser.ts';
import type { FilterNode } from './syntax.ts';
import { anyNode, print, withoutOffsets } from './tree.test-helper.ts';

const parse = (text: string): FilterNode => parseFilter(text, filterLimits);
const shown = (text: string): string => print(parse(text));

function failure(text: string, limits = filterLimits as Parameters<typeof parseFilter>[1]) {
  try {
    parseFilter(text, limits);
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
  throw new Error(`parsed: ${text}`);
}

describe('a printed filter is read back the same', () => {
  test.each([
    // equality
    ['Status == running', 'Status == "running"'],
    ['Status=="running"', 'Status == "running"'],
    ['Status!=running', 'Status != "running"'],
    ['Priority == -12.50', 'Priority == "-12.50"'],
    ['Priority==0)'.slice(0, -1), 'Priority == "0"'],
    ['a == b.c.0', 'a == "b.c.0"'],
    ['a == in', 'a == "in"'],
    ['a == "\\"\\\\\\n\\t\\x41\\u00e9\\U0001F600"', `a == ${JSON.stringify('"\\\n\tAé😀')}`],
    ['a == `raw \\n "x"`', 'a == "raw \\\\n \\"x\\""'],
    // words
    ['Tags contains x', 'Tags contains "x"'],
    ['Tags not contains x', 'Tags not contains "x"'],
    ['x in Tags', '"x" in Tags'],
    ['x not in Tags', '"x" not in Tags'],
    ['5 in Ports', '"5" in Ports'],
    ['a.b in Tags', '"a.b" in Tags'],
    ['Name matches `^a.*`', 'Name matches "^a.*"'],
    ['Name not matches abc', 'Name not matches "abc"'],
    ['Tags is empty', 'Tags is empty'],
    ['Tags is  not\n empty', 'Tags is not empty'],
    ['Tags is nil', 'Tags is nil'],
    ['Tags is not nil', 'Tags is not nil'],
    // selectors
    ['Meta.a.b == x', 'Meta.a.b == "x"'],
    ['Meta["a-b"][ `c` ].d == x', 'Meta["a-b"].c.d == "x"'],
    ['List.0.Name == x', 'List.0.Name == "x"'],
    ['a/b_1 == x', 'a/b_1 == "x"'],
    ['"/Meta/a~1b~0c/0" == x', 'Meta["a/b~c"].0 == "x"'],
    ['`/Meta/x` is empty', 'Meta.x is empty'],
    ['"/a" in "/Tags"', '"/a" in Tags'],
    ['"/a" not in Tags', '"/a" not in Tags'],
    ['"/Tags" not contains "/a"', 'Tags not contains "/a"'],
    // words that are keywords elsewhere
    ['any in Tags', '"any" in Tags'],
    ['all contains x', 'all contains "x"'],
    ['empty in is', '"empty" in is'],
    ['is is empty', 'is is empty'],
    ['in in in', '"in" in in'],
    ['contains not contains contains', 'contains not contains "contains"'],
    // precedence
    ['a == 1 or b == 2 and c == 3', '(a == "1" or (b == "2" and c == "3"))'],
    ['a == 1 and b == 2 or c == 3', '((a == "1" and b == "2") or c == "3")'],
    ['(a == 1 or b == 2) and c == 3', '((a == "1" or b == "2") and c == "3")'],
    ['not a == 1 and b == 2', '(not a == "1" and b == "2")'],
    ['not (a == 1 and b == 2)', 'not (a == "1" and b == "2")'],
    ['not not a is empty', 'not not a is empty'],
    ['a is empty or b is empty or c is empty', '(a is empty or b is empty or c is empty)'],
    ['((a is empty))', 'a is empty'],
    ['(not a is empty)', 'not a is empty'],
    // collections
    ['any Tags as t { t == x }', 'any Tags as t { t == "x" }'],
    ['all Tags as i,v{v == x}', 'all Tags as i, v { v == "x" }'],
    ['all Meta as _, v { v == x or v == y }', 'all Meta as _, v { (v == "x" or v == "y") }'],
    ['any "/a/b" as t { t.c is empty }', 'any a.b as t { t.c is empty }'],
    [
      'not any a as t {not t is empty} and b is empty',
      '(not any a as t { not t is empty } and b is empty)',
    ],
    ['any a as any { any is empty }', 'any a as any { any is empty }'],
  ])('%s', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test('each part of a path and each value has its place', () => {
    expect(parse('a.bc["d"] == x')).toMatchObject({
      selector: { path: ['a', 'bc', 'd'], offsets: [0, 2, 5] },
      value: { text: 'x', offset: 13 },
    });
  });
});

describe('errors name the place', () => {
  test.each<[text: string, offset: number, sentence: RegExp]>([
    ['Status', 6, /^Expected an operator.*found the end/],
    ['Status ==', 9, /^Expected a value after "==", found the end of the filter$/],
    ['Status == and', 10, /put quotes around "and"/],
    ['not', 3, /^Expected a selector or a value, found the end/],
    ['and == x', 0, /put quotes around "and"/],
    ['(a == b', 0, /^This "\(" is not closed$/],
    ['a == b)', 6, /^This "\)" closes nothing$/],
    ['a == b }', 7, /closes nothing/],
    ['()', 1, /^Expected a selector or a value, found "\)"/],
    ['a == b c == d', 7, /^Expected "and", "or" or the end of the filter, found "c"$/],
    ['(a == b c', 8, /^Expected "and", "or" or "\)", found "c"$/],
    ['a == b AND c == d', 7, /^Expected "and"/],
    ['a == "x', 5, /^The quoted string is not closed$/],
    ['a == `x', 5, /not closed/],
    ['a == "\\d"', 6, /^Unknown escape/],
    ['a == "\\U00110000"', 6, /^Unknown escape/],
    ['a == 01', 5, /^The number 01 has a leading zero/],
    ['a == 1.', 5, /^"1\." is not a number/],
    ['a == 3f2a', 5, /"3f2a" is not a number; put quotes/],
    ['a == -', 5, /"-" is not a number/],
    ['a == dc-1', 7, /found "-1"; put quotes around a text value$/],
    ['a = b', 2, /^Unexpected "="; write "=="/],
    ['a == b && c == d', 7, /write "and"/],
    ['a == b || c == d', 7, /write "or"/],
    ['!a', 0, /write "not"/],
    ['a < 5', 2, /no order comparison/],
    ["a == 'x'", 5, /double quotes/],
    ['a == 😀', 5, /^Unexpected "😀"$/],
    ['a. == x', 2, /after "\."/],
    ['a["x" == y', 1, /not closed by "\]"/],
    ['a[x] == y', 2, /quoted key/],
    ['a == b["c"]', 5, /brackets/],
    ['5 == a', 0, /^Expected a selector, found "5"/],
    ['"x" == a', 0, /^Expected a selector, found the string "x"; .*JSON pointer/],
    ['x in 5', 5, /^Expected a selector, found "5"/],
    ['a is', 4, /"\[not\] empty" or "\[not\] nil"/],
    ['a is full', 5, /"\[not\] empty" or "\[not\] nil" after "is", found "full"/],
    ['a not empty', 6, /^Expected an operator/],
    // operators that are words need spaces
    ['"x"in a', 3, /^A space is needed before "in"$/],
    ['(a == b)and c == d', 8, /before "and"/],
    ['(a == b) and(c == d)', 9, /^A space is needed after "and"$/],
    ['not(a == b)', 0, /after "not"/],
    ['a contains"x"', 2, /after "contains"/],
    // collections
    ['any Tags { t == x }', 9, /^Expected "as" and a name, found "{"/],
    ['any Tags as { t == x }', 12, /a name for the element/],
    ['any Tags as t t == x', 14, /^Expected "{"/],
    ['any Tags as t { t == x', 14, /^This "{" is not closed/],
    ['any Tags as t, t { t == x }', 15, /given twice/],
    ['any Tags as t.u { t == x }', 12, /a name/],
    ['any "x" as t { t == x }', 4, /^Expected a selector/],
  ])('%s', (text, offset, sentence) => {
    const error = failure(text);
    expect(error.sentence).toMatch(sentence);
    expect(error.offset).toBe(offset);
    expect(error.expression).toBe(text);
  });

  test('line, column, message and excerpt', () => {
    const error = failure('a == b and\n\tc = d\nor e == f');
    expect([error.line, error.column]).toEqual([2, 4]);
    expect(error.message).toBe(
      'Unexpected "="; write "==", or "matches" for a pattern (line 2, column 4)',
    );
    expect(error.excerpt).toBe(' c = d\n   ^');
  });

  test('a long line is cut around the place', () => {
    const [shownLine, caret] = failure(`${'a == b and '.repeat(30)}!`).excerpt.split('\n');
    expect(shownLine!.length).toBeLessThan(80);
    expect(shownLine![caret!.indexOf('^')]).toBe('!');
  });
});

describe('bounds', () => {
  const nested = (count: number): string => `${'('.repeat(count)}a is empty${')'.repeat(count)}`;
  const collections = (count: number): string =>
    `${'any a as t { '.repeat(count)}t is empty${' }'.repeat(count)}`;

  test.each([
    ['length', 'a == '.padEnd(filterLimits.expressionLength, 'x'), 'a == '.padEnd(8193, 'x')],
    ['depth', nested(64), nested(65)],
    ['negations', `${'not '.repeat(64)}a is empty`, `${'not '.repeat(65)}a is empty`],
    ['collections', collections(3), collections(4)],
    ['path', `a${'.b'.repeat(31)} is empty`, `a${'.b'.repeat(32)} is empty`],
  ])('%s', (_name, within, over) => {
    expect(() => parse(within)).not.toThrow();
    expect(() => parse(over)).toThrow(FilterError);
  });

  test('the depths of siblings do not add up', () => {
    const text = Array.from({ length: 70 }, () => '(any a as t { t is empty })').join(' or ');
    expect(() => parse(text)).not.toThrow();
  });
});

describe('properties', () => {
  test('a printed tree is read back the same', () => {
    fc.assert(
      fc.property(anyNode, (node) => {
        expect(withoutOffsets(parse(print(node)))).toEqual(withoutOffsets(node));
      }),
      { numRuns: 500 },
    );
  });

  test('any text parses or throws a FilterError within the text', () => {
    const word = fc.constantFrom(
      'a',
      'and',
      'or',
      'not',
      'in',
      'is',
      'empty',
      'any',
      'all',
      'as',
      '(',
      ')',
      '{',
      '}',
      '==',
      '!=',
      'contains',
      'matches',
      '"x"',
      '`',
      '"',
      '.',
      '[',
      ']',
      ',',
      '_',
      '-1',
      '0',
      ' ',
      ' ',
      '\n',
      '\\',
      '"/a/b"',
      '😀',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(word).map((all) => all.join('')),
    );
    const spaced = fc.array(word, { maxLength: 12 }).map((all) => all.join(' '));
    fc.assert(
      fc.property(fc.oneof(text, spaced), (expression) => {
        try {
          parse(expression);
        } catch (error) {
          expect(error).toBeInstanceOf(FilterError);
          const { offset } = error as FilterError;
          expect(offset >= 0 && offset <= expression.length).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
