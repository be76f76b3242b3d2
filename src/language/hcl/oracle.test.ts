/**
 * Compares our reader of HCL2 with the reference implementation: over a corpus, over texts that differ from
 * it in a few places, and over printed random trees, both accept the same texts and read the same trees.
 * `differences` has the reasons for differences on purpose.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateConstant } from './constant.ts';
import { HclError } from './errors.ts';
import type { HclLimits } from './limits.ts';
import { askOracle, jsonOf } from './oracle.test-helper.ts';
import { parseHcl, parseHclExpression } from './parse.ts';
import type { HclBody } from './syntax.ts';
import { anyBody, printBody } from './tree.test-helper.ts';

const corpusPath = new URL('oracle-corpus.hcl', import.meta.url);
const corpus = readFileSync(corpusPath, 'utf8')
  .split(/^#=== /m)
  .slice(1)
  .map((section) => {
    const [, verdict, name, text] = /^(\w+): ([^\n]*)\n(.*)$/s.exec(section)!;
    return { verdict: verdict!, name: name!, text: text! };
  });

/** Texts that a file cannot show well: spaces, line ends, ends without them, odd characters. */
const oddities: readonly (readonly [verdict: string, text: string])[] = [
  ['accepted', ''],
  ['accepted', ' \t\n\n'],
  ['accepted', '\r\n'],
  ['refused', '\r'],
  ['accepted', '\uFEFFa = 1'],
  ['refused', 'a\uFEFF = 1'],
  ['accepted', 'a=1\r\nb = [\r\n1,\r\n]\r\nc {\r\n}\r\n'],
  ['refused', 'a = 1\rb = 2'],
  ['refused', 'a = [1,\r2]'],
  ['accepted', '\ta\t=\t1\t'],
  ['refused', 'a =\u00A01'],
  ['refused', 'a\f= 1'],
  ['refused', 'a = 1 \u0000'],
  ['accepted', 'a = "\u0000\u0001\u007F\u0085\u2028"'],
  ['refused', 'a = "b\rc"'],
  ['accepted', 'a = "b\tc"'],
  ['accepted', '# a'],
  ['accepted', '//'],
  ['accepted', '# a\r\nb = 1'],
  ['refused', '/*'],
  ['accepted', 'a = 1 /* b\n*/ \nc = 2'],
  ['refused', 'a = 1 /* b\n*/ c = 2'],
  ['refused', 'a = <<E\nb\nE'],
  ['accepted', 'a = <<E\nE\n'],
  ['accepted', 'a = <<E\r\nb\r\n E\t\r\n'],
  ['accepted', 'a = <<E\n${b\r\n}%{ if c }\r\n%{ endif }\nE\n'],
  ['refused', 'a = <<E\nb\rc\nE\n'],
  ['refused', 'a = <<E\nb\n\rE\n'],
  ['refused', 'a = <<E\nb\nE\r\r\n'],
  ['accepted', 'a = <<E\nb\n\u3000E\u00A0\n'],
  ['accepted', 'a = <<E\nb\n\u0085E\n'],
  ['refused', 'a = <<E\nb\n\uFEFFE\n'],
  ['accepted', 'a = "\u0085${~ b ~}\u0085"'],
  ['accepted', 'a = "\uFEFF${~ b ~}\uFEFF"'],
  ['accepted', 'a = "${~ 1 ~}"\nb = " ${~ 1}"\nc = "${1 ~} "\nd = <<E\n${1 ~}\nE\n'],
  ['accepted', 'a = <<-E\n\u3000\u3000b\n\u3000c\nE\n'],
  ['accepted', 'a = <<-E\n \uFEFFb\n c\nE\n'],
  ['refused', 'a\u200D = 1'],
  ['accepted', 'a\u0301 = a\u0301.b'],
  ['refused', '\u0301a = 1'],
];

/** Our tree in the form of the oracle; `undefined` if we refuse the text. */
function read(text: string, limits: Partial<HclLimits> = {}): HclBody | undefined {
  try {
    return parseHcl(text, limits);
  } catch (error) {
    if (error instanceof HclError) return undefined;
    throw error;
  }
}

/** The oracle composes Unicode characters, and we keep texts as they are written. */
const comparable = (value: unknown): unknown => JSON.parse(JSON.stringify(value).normalize('NFC'));

/** Whether both accept the text. Throws if they disagree on it or on its tree. */
async function agree(text: string): Promise<boolean> {
  const ours = read(text);
  const theirs = await askOracle(text);
  expect({ text, isHcl: ours !== undefined }).toEqual({ text, isHcl: theirs.isHcl });
  if (ours === undefined || !theirs.isHcl) return false;
  const json = theirs.json === undefined ? undefined : jsonOf(ours, text);
  if (json !== undefined) {
    expect({ text, json: comparable(json) }).toEqual({ text, json: comparable(theirs.json) });
  }
  return true;
}

describe('the corpus', () => {
  test.each(corpus)('$verdict: $name', async ({ verdict, text }) => {
    expect(await agree(text)).toBe(verdict === 'accepted');
  });

  test.each(oddities)('%s: %j', async (verdict, text) => {
    expect(await agree(text)).toBe(verdict === 'accepted');
  });
});

describe('differences on purpose', () => {
  const limits: Partial<HclLimits> = { depthMax: 8, nodesMax: 99, textLengthMax: 999 };

  test.each<[why: string, text: string, ours: boolean, theirs: boolean]>([
    // Numbers are doubles, as in JavaScript and JSON. A number that a double cannot hold is refused, not made
    // infinite. The oracle accepts it, and then writes null.
    ['numbers that are too large', 'a = 1e309', false, true],
    // The oracle bounds exponents to 32 bits.
    ['numbers that are too small', 'a = 1e-9999999999', true, false],
    ['indexes that are too large', `a = b.${'9'.repeat(400)}`, false, true],
    // Names follow the Unicode version of the running Node. The oracle has version 9.
    ['letters of later versions of Unicode', 'a = \u{1C90}', true, false],
    // Texts may be hostile. A text that needs unbounded time or stack is refused.
    ['depth', `a = ${'('.repeat(9)}1${')'.repeat(9)}`, false, true],
    ['parts', `a = [${'1,'.repeat(100)}]`, false, true],
    ['length', `#${' '.repeat(1000)}`, false, true],
  ])('%s', async (_, text, ours, theirs) => {
    expect(read(text, limits) !== undefined).toBe(ours);
    expect((await askOracle(text)).isHcl).toBe(theirs);
  });

  test.each<[why: string, value: string, ours: string, theirs: string]>([
    // A path or a password must not be replaced by a text that looks the same.
    ['texts are kept as written', '"e\u0301"', 'e\u0301', '\u00E9'],
    // The oracle calculates with 512 bits.
    ['digits', '"x${1234567890123456789}"', 'x1234567890123456800', 'x1234567890123456789'],
    ['fractions', '"x${0.30000000000000000004}"', 'x0.3', 'x0.30000000000000000004'],
  ])('%s', async (_, value, ours, theirs) => {
    expect(evaluateConstant(parseHclExpression(value), value)).toBe(ours);
    expect(await askOracle(`a = ${value}`)).toEqual({ isHcl: true, json: { a: theirs } });
  });
});

const pieces = [
  'a',
  'b',
  '_',
  'é',
  '😀',
  '0',
  '1',
  '.5',
  '1.5',
  '1e5',
  'e5',
  '"',
  '"x"',
  '\\',
  '\\n',
  '\\u00e9',
  '${',
  '$${',
  '%{',
  '%%{',
  '%{if a}',
  '%{else}',
  '%{endif}',
  '%{for x in y}',
  '%{endfor}',
  '~',
  '~}',
  '${~',
  '[',
  ']',
  '(',
  ')',
  '{',
  '}',
  '\n',
  '\r\n',
  '\r',
  ' ',
  '\t',
  '=',
  ',',
  '.',
  '*',
  '[*]',
  '.*',
  '-',
  '!',
  '=>',
  '...',
  '?',
  ':',
  '::',
  '&&',
  '||',
  '==',
  '<',
  '<=',
  '+',
  '/',
  '%',
  '$',
  '<<E\n',
  '<<-E\n',
  '\nE\n',
  'E\n',
  '#',
  '//',
  '/*',
  '*/',
  'for',
  'for x in y:',
  'in',
  'if',
  'true',
  'null',
  'f(',
  '@',
  ';',
  "'",
  '\u0000',
  '\uFEFF',
];
const anyPiece = fc.constantFrom(...pieces);
const anyPrinted = anyBody.map((body) => printBody(body).toWellFormed());
const anyEdits = fc.array(
  fc.tuple(fc.nat(), fc.nat({ max: 4 }), fc.oneof(fc.constant(''), anyPiece)),
  {
    minLength: 1,
    maxLength: 3,
  },
);
const anyEdited = (arbitrary: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(arbitrary, anyEdits).map(([whole, edits]) =>
    edits.reduce((text, [place, length, piece]) => {
      const at = place % (text.length + 1);
      return (text.slice(0, at) + piece + text.slice(at + length)).toWellFormed();
    }, whole),
  );

/** Texts with differences on purpose, or with which the oracle takes too long. */
const hasExtremeNumber = (text: string): boolean =>
  [...text.matchAll(/[0-9][0-9.]*[eE][+-]?[0-9]+/g)].some(
    ([number]) => Number(number) === Infinity || /[0-9]{4}$/.test(number),
  );

describe('random texts', () => {
  const known = corpus.map(({ text }) => text).filter((text) => text.length < 700);
  const short = oddities.map(([, text]) => text);
  test.each<[what: string, texts: fc.Arbitrary<string>, numRuns: number]>([
    ['the corpus with changes', anyEdited(fc.constantFrom(...known, ...short)), 3_000],
    [
      'one value of any pieces',
      fc.array(anyPiece, { maxLength: 25 }).map((some) => `a = ${some.join('')}`),
      1_500,
    ],
    ['printed trees', anyPrinted, 200],
    ['printed trees with changes', anyEdited(anyPrinted), 700],
  ])(
    '%s',
    async (_, texts, numRuns) => {
      await fc.assert(
        fc.asyncProperty(texts, async (text) => {
          if (!hasExtremeNumber(text)) await agree(text);
        }),
        { numRuns },
      );
    },
    // It takes a few seconds, unless the machine is busy.
    120_000,
  );
});
