import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HclError } from '../hcl/errors.ts';
import { parseHcl } from '../hcl/parse.ts';
import { anyBody, printBody, withoutRanges } from '../hcl/tree.test-helper.ts';
import { formatHcl } from './format.ts';

const cases: readonly (readonly [title: string, text: string, formatted: string])[] = [
  ['nothing', '', ''],
  ['only blank lines', '\n\n  \n', ''],
  ['a comment alone', '# a', '# a\n'],
  ['spaces around "="', 'a=1', 'a = 1\n'],
  ['a missing new line at the end', 'a = 1', 'a = 1\n'],
  ['indentation', 'a {\n      b = 1\n}\n', 'a {\n  b = 1\n}\n'],
  ['tabs', 'a\t=\t1', 'a = 1\n'],
  ['line ends', 'a = 1\r\nb = 2\r\n', 'a = 1\nb = 2\n'],
  ['a byte order mark', '\uFEFFa = 1\n', 'a = 1\n'],
  ['"=" below each other', 'a = 1\nbcd = 2\n', 'a   = 1\nbcd = 2\n'],
  ['a blank line between attributes', 'a = 1\n\nbcd = 2\n', 'a = 1\n\nbcd = 2\n'],
  ['a comment between attributes', 'a = 1\n# c\nbcd = 2\n', 'a = 1\n# c\nbcd = 2\n'],
  ['a block between attributes', 'a = 1\nb {}\nbcd = 2\n', 'a = 1\nb {}\nbcd = 2\n'],
  ['too many blank lines', '\n\na = 1\n\n\n\nb = 2\n\n', 'a = 1\n\nb = 2\n'],
  ['blank lines inside of braces', 'a {\n\n  b = 1\n\n}\n', 'a {\n  b = 1\n}\n'],
  ['labels', 'a   "b"c{\n}\n', 'a "b" c {\n}\n'],
  ['a list on one line', 'a = [ 1,2 , 3 ]\n', 'a = [1, 2, 3]\n'],
  ['a list on several lines', 'a = [\n1,\n2,\n]\n', 'a = [\n  1,\n  2,\n]\n'],
  ['brackets that open together', 'a = f({\nb = 1\n})\n', 'a = f({\n  b = 1\n})\n'],
  ['objects', 'a = {b=1,\nccc = 2}\n', 'a = { b = 1,\n  ccc = 2 }\n'],
  ['keys of objects', 'a = {\n"b c" = 1\nd = 2\n}\n', 'a = {\n  "b c" = 1\n  d     = 2\n}\n'],
  ['operators', 'a = b==c&&d?1:2\n', 'a = b == c && d ? 1 : 2\n'],
  ['signs and minus', 'a = 1 -2\nb = -1\n', 'a = 1 -2\nb = -1\n'],
  ['calls', 'a = f( 1 , b... )\n', 'a = f(1, b...)\n'],
  ['comments at the end', 'a = 1 # b\nccc = 22 // d\n', 'a   = 1  # b\nccc = 22 // d\n'],
  ['a comment inside', 'a = /* b */ 1\n', 'a = /* b */ 1\n'],
  ['comments of several lines', 'a {\n/* b\n      c */\n}\n', 'a {\n  /* b\n      c */\n}\n'],
  [
    'heredocs as they are',
    'a {\n  b = <<E\n  x\n   y = 1\nE\n    c = 1\n}\n',
    'a {\n  b = <<E\n  x\n   y = 1\nE\n  c = 1\n}\n',
  ],
  ['strings as they are', 'a = "  ${b  +1} # no"\n', 'a = "  ${b  +1} # no"\n'],
  ['blocks on one line', 'a{b=1}\n', 'a { b = 1 }\n'],
  ['wide letters', 'é = 1\nab = 2\n', 'é  = 1\nab = 2\n'],
];

test.each(cases)('%s', (_, text, formatted) => {
  expect(formatHcl(text)).toBe(formatted);
});

test('a text that is no HCL is refused with the place', () => {
  expect(() => formatHcl('a = \n')).toThrow(HclError);
});

/** The tree, with the line ends of a text on any machine. */
const meaning = (text: string) => withoutRanges(parseHcl(text));

const corpus = readFileSync(new URL('../hcl/oracle-corpus.hcl', import.meta.url), 'utf8')
  .split(/^#=== /m)
  .slice(1)
  .map((section) => section.slice(section.indexOf('\n') + 1))
  .filter((text) => {
    try {
      parseHcl(text);
      return true;
    } catch {
      return false;
    }
  });

function expectHarmless(text: string): void {
  const formatted = formatHcl(text);
  expect(meaning(formatted)).toEqual(meaning(text));
  expect(formatHcl(formatted)).toBe(formatted);
}

describe('the parsed tree stays the same, and formatting twice changes nothing', () => {
  test('over the corpus of the syntax', () => {
    expect(corpus.length).toBeGreaterThan(40);
    for (const text of corpus) expectHarmless(text);
  });

  test('over random trees, printed in a random way', () => {
    // A space may become several spaces, and no space may become one.
    const space = fc.array(fc.constantFrom('', ' ', '  ', '\t'), { minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(anyBody, space, (tree, spaces) => {
        let at = 0;
        const text = printBody(tree).replace(/^ +| (?=[=+*/<>&|?])|(?<=[,({[]) ?/gm, (found) => {
          const more = spaces[at++ % spaces.length]!;
          return found === '' ? '' : `${found}${more}`;
        });
        let same: boolean;
        try {
          same = JSON.stringify(meaning(text)) === JSON.stringify(meaning(printBody(tree)));
        } catch {
          same = false;
        }
        if (same) expectHarmless(text);
      }),
      { numRuns: 300 },
    );
  });
});
