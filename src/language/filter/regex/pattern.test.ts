import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern, PatternError } from './pattern.ts';

describe('matches as RE2', () => {
  test.each<[pattern: string, yes: readonly string[], no: readonly string[]]>([
    ['', ['', 'x'], []],
    ['b', ['b', 'abc'], ['', 'a']],
    ['^ab$', ['ab'], ['xab', 'abx', 'ab\n']],
    ['a|^b|', ['x'], []],
    ['^(a|bc)*$', ['', 'abcbca'], ['ab']],
    ['^(?:a|b)+c?$', ['abac', 'b'], ['c']],
    ['^(?P<x>a)(?<y>b)$', ['ab'], ['a']],
    ['^a{2}$', ['aa'], ['a', 'aaa']],
    ['^a{2,}$', ['aa', 'aaaa'], ['a']],
    ['^a{1,3}?$', ['a', 'aaa'], ['', 'aaaa']],
    ['^a{0}$', [''], ['a']],
    ['^a{,3}$', ['a{,3}'], ['aaa']],
    ['^x{y}$', ['x{y}'], ['x']],
    ['^(a*)*$', ['', 'aaa'], ['b']],
    ['^(|a)+$', ['', 'aa'], ['b']],
    ['^(){1000}x$', ['x'], ['']],
    ['^((((){1000}){1000}){1000})$', [''], ['x']],
    ['a.c', ['abc', 'a\rc', 'a😀c', 'a\u2028c'], ['a\nc', 'ac']],
    ['(?s)a.c', ['a\nc'], ['ac']],
    ['(?i)straße', ['STRAßE'], ['strasse']],
    ['a(?i:b)c', ['abc', 'aBc'], ['Abc', 'abC']],
    ['(?i)a(?-i:b)', ['Ab'], ['aB']],
    ['((?i)a|b)c', ['Ac', 'Bc'], ['AC']],
    ['(?m)^b$', ['a\nb\nc'], ['a\rb']],
    ['(?U)a+', ['a'], ['b']],
    ['\\Aa\\z', ['a'], ['ba']],
    ['\\bcat\\b', ['a cat!', 'cat'], ['cats', 'éducat_']],
    ['a\\Bb', ['ab'], ['a b']],
    ['^\\d\\D\\w\\W\\s\\S$', ['1a_! x'], ['aa_! x']],
    ['^\\s$', [' ', '\t', '\f'], ['\v', '\u00a0']],
    ['^[a-c\\d_-]+$', ['a1_-', 'c'], ['d', '']],
    ['^[^a-c]$', ['d', '\n', '😀'], ['a', 'dd']],
    ['^[]a]$', [']', 'a'], ['b']],
    ['^[^]a]$', ['b'], [']', 'a']],
    ['^[a\\]-]$', [']', '-'], ['\\']],
    ['^[\\D1]$', ['a', '1'], ['2']],
    ['^[[:alpha:][:^ascii:]]$', ['a', 'é'], ['1']],
    ['^[\\w.]+@[&&||]+$', ['a.b@&|'], ['a@']],
    ['^\\pL\\p{Greek}\\P{Lu}\\p{^Lu}$', ['éαaa'], ['1αaa', 'aaaa', 'éαAa']],
    ['^\\x41\\x{1F600}\\101\\07\\a\\t$', ['A😀A\x07\x07\t'], ['A']],
    ['^\\.\\-\\/\\"\\_\\]\\}$', ['.-/"_]}'], ['a']],
    ['^\\Qa.b*\\E+$', ['a.b*', 'a.b***'], ['axb*']],
    ['\\Q(', ['('], ['x']],
    ['^a]}$', ['a]}'], ['a']],
  ])('%s', (pattern, yes, no) => {
    const matches = compilePattern(pattern);
    for (const text of yes) expect(matches(text), `matches ${JSON.stringify(text)}`).toBe(true);
    for (const text of no) expect(matches(text), `not ${JSON.stringify(text)}`).toBe(false);
  });
});

test.each<[pattern: string, sentence: RegExp]>([
  ['(', /"\(" is not closed/],
  ['a)', /"\)" closes no group/],
  ['[a', /"\[" is not closed/],
  ['[]', /not closed/],
  ['*a', /nothing to repeat/],
  ['a|+', /nothing to repeat/],
  ['a**', /repetition is repeated/],
  ['a++', /repetition is repeated/],
  ['a{2}{3}', /repetition is repeated/],
  ['a{3,2}', /reversed/],
  ['a{1001}', /over 1000/],
  ['(?=a)', /lookahead/],
  ['(?!a)', /lookahead/],
  ['(?<=a)', /lookbehind/],
  ['(?<!a)', /lookbehind/],
  ['(?>a)', /atomic/],
  ['(a)\\1', /backreferences \(\\1\)/],
  ['(?P<n>a)(?P=n)', /backreferences/],
  ['\\k<n>', /backreferences/],
  ['(?x)a', /unknown flags/],
  ['a(?i)b', /put \(\?i\) at the start/],
  ['\\y', /no escape \\y/],
  ['\\', /ends in a backslash/],
  ['\\Z', /no escape \\Z/],
  ['\\p{Klingon}', /no property "Klingon"/],
  ['[[:nope:]]', /no class/],
  ['[z-a]', /reversed/],
  ['[a-\\d]', /ends in a set/],
  ['\\x{110000}', /no character/],
  ['(a{1000}){1000}', /too large/],
  ['('.repeat(51) + ')'.repeat(51), /more than 50 deep/],
  ['a'.repeat(1025), /longer than 1024/],
])('%s is refused', (pattern, sentence) => {
  expect(() => compilePattern(pattern)).toThrow(PatternError);
  expect(() => compilePattern(pattern)).toThrow(sentence);
});

/** Patterns with the same meaning in both engines: without `.`, whose line ends differ. */
const anyPattern = fc.letrec<{ node: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'b', 'ab', '[ab]', '[^a]', '^', '$', '\\b', '\\B', '\\w', '\\n', ''),
    tie('node').map((inner) => `(?:${inner})`),
  ),
  node: fc
    .array(fc.tuple(tie('atom'), fc.constantFrom('', '', '|', '*', '+', '?', '{0,2}', '{2}')), {
      maxLength: 4,
    })
    .map((parts) =>
      parts
        .map(([atom, after]) =>
          after === '|' ? `${atom}|` : atom === '' ? '' : quantified(atom, after),
        )
        .join(''),
    ),
}));
/** ECMAScript refuses repeated assertions. */
const quantified = (atom: string, after: string): string =>
  after === '' ? atom : `(?:${atom})${after}`;
const anyText = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '_'), maxLength: 10 });

/** Nested repetitions may exceed the bound of a program. They are refused: see the bounds below. */
function fitsProgram(pattern: string): boolean {
  try {
    compilePattern(pattern);
    return true;
  } catch (error) {
    if (error instanceof PatternError && error.message.includes('too large')) return false;
    throw error;
  }
}

test('agrees with a backtracking engine on patterns of both', () => {
  fc.assert(
    fc.property(anyPattern.node, fc.array(anyText, { minLength: 1 }), (pattern, texts) => {
      fc.pre(fitsProgram(pattern));
      const matches = compilePattern(pattern);
      const forgetful = compilePattern(pattern, 0);
      const oracle = new RegExp(pattern, 'v');
      for (const text of texts) {
        expect(matches(text)).toBe(oracle.test(text));
        expect(forgetful(text)).toBe(oracle.test(text));
      }
    }),
    { numRuns: 2000 },
  );
});

test('any text is a pattern or is refused', () => {
  const piece = fc.constantFrom(
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '?',
    '*',
    '+',
    '|',
    '\\',
    '^',
    '$',
    '-',
    ':',
    'i',
    'a',
    '1',
    '\\p',
    '\\Q',
    '\\E',
    '(?',
    '[[:',
    ',',
    '<',
    '&&',
    '--',
    '~~',
    '😀',
    '\ud800',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, fc.string({ unit: 'binary' }), (pattern, subject) => {
      try {
        compilePattern(pattern)(subject);
      } catch (error) {
        expect(error).toBeInstanceOf(PatternError);
      }
    }),
    { numRuns: 1000 },
  );
});

/** A backtracking engine would not finish any of these in a reasonable time. */
test.each([
  ['^(a+)+$', `${'a'.repeat(5000)}!`],
  ['^(a|aa)+$', `${'a'.repeat(5000)}!`],
  ['a*a*a*a*a*a*b', 'a'.repeat(5000)],
  ['(x+x+)+y', 'x'.repeat(5000)],
  ['(a|b)*a(a|b){12}$', `${'ab'.repeat(2500)}c`],
])('%s is linear in the text', (pattern, text) => {
  expect(compilePattern(pattern)(text)).toBe(false);
});

test('a match continues when the cache is dropped during it', () => {
  const matches = compilePattern('x[ab]{14}y', 0);
  expect(matches(`abx${'ab'.repeat(7)}y`)).toBe(true);
  expect(matches(`abx${'ab'.repeat(6)}y`)).toBe(false);
});
