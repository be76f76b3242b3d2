import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateConstant } from './constant.ts';
import { HclError } from './errors.ts';
import { type BodyShape, expandBlocks } from './expand-blocks.ts';
import { parseJson, parseJsonBody } from './json.ts';
import { parseHcl } from './parse.ts';
import { printBody, withoutRanges } from './tree.test-helper.ts';

function attempt(text: string): { value: unknown } | undefined {
  try {
    return { value: evaluateConstant(parseJson(text), text) };
  } catch (error) {
    if (error instanceof HclError) return undefined;
    throw error;
  }
}

function platform(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text, finite) };
  } catch {
    return undefined;
  }
}

/** Numbers that the platform cannot hold are refused. */
function finite(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('too large');
  return value;
}

describe('JSON', () => {
  test('accepts exactly the texts that the platform accepts', () => {
    const junk = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom(...'{}[]",:0-.eE\\ \n\tu1tn'))
      .map(([text, at, character]) => {
        const start = at % (text.length + 1);
        return text.slice(0, start) + character + text.slice(start);
      })
      .filter((text) => !hasRepeatedKey(text));
    fc.assert(
      fc.property(fc.oneof(fc.json(), junk), (text) => {
        expect(JSON.stringify(attempt(text))).toBe(JSON.stringify(platform(text)));
      }),
      { numRuns: 500 },
    );
  });

  /** Whether the platform dropped a duplicate key: then its value is shorter than the text. */
  const hasRepeatedKey = (text: string): boolean => {
    const parsed = platform(text);
    const keys = /"(?:[^"\\]|\\.)*"\s*:/g;
    return (
      parsed !== undefined &&
      (text.match(keys)?.length ?? 0) !== (JSON.stringify(parsed.value).match(keys)?.length ?? 0)
    );
  };

  test.each<[text: string, place: string, sentence: string]>([
    ['', '1:1', 'Expected a value, found the end of the text'],
    ['{"a":\n}', '2:1', 'Expected a value, found "}"'],
    ['{"a" 1}', '1:6', 'Expected ":" after the key, found "1"'],
    ['{a: 1}', '1:2', 'Expected a key in double quotes, found "a"'],
    ['{"a": 1,}', '1:9', 'Expected a key in double quotes, found "}"'],
    ['[1 2]', '1:4', 'Expected "," or "]", found "2"'],
    ['[1', '1:1', 'This "[" is not closed by "]"'],
    ['["a', '1:2', 'This string is not closed'],
    ['["\\x"]', '1:3', 'Unknown escape in a string'],
    ['["a\n"]', '1:4', 'A string is on one line and holds no control character'],
    ['1 2', '1:3', 'Expected the end of the text, found "2"'],
    ['1e999', '1:1', 'This number is too large'],
    ['[True]', '1:2', 'Expected a value, found "T"'],
    ['{"a": 1, "a": 2}', '1:10', 'The key "a" is given twice'],
    ['['.repeat(100_000), '1:129', 'The text is nested more than 128 deep'],
  ])('%.20j', (text, place, sentence) => {
    expect.assertions(2);
    try {
      parseJson(text);
    } catch (error) {
      const { line, column, sentence: found } = error as HclError;
      expect(`${line}:${column}`).toBe(place);
      expect(found).toBe(sentence);
    }
  });

  test('a body is an object', () => {
    expect(() => parseJsonBody(' [1]')).toThrow('Expected an object (line 1, column 2)');
  });
});

describe('blocks in JSON', () => {
  const leaf: BodyShape = { blocks: new Map() };
  const shape: BodyShape = {
    blocks: new Map([
      ['key', { labels: 1, body: leaf }],
      ['quota', { labels: 0, body: leaf }],
      ['space', { labels: 1, body: { blocks: new Map([['key', { labels: 1, body: leaf }]]) } }],
    ]),
  };

  test.each([
    ['{"key": {"a": {"p": 1}, "b": {}}}', 'key "a" { p = 1 }\nkey "b" {}'],
    ['{"key": [{"a": {"p": 1}}, {"b": {}}]}', 'key "a" { p = 1 }\nkey "b" {}'],
    ['{"key": {"a": [{"p": 1}, {"p": 2}]}}', 'key "a" { p = 1 }\nkey "a" { p = 2 }'],
    ['{"key": {"p": 1}}', 'key { p = 1 }'],
    ['{"key": {}}', ''],
    ['{"key": "x", "other": {"a": {}}}', 'key = "x"\nother = { a = {} }'],
    ['{"quota": {"p": 1}}', 'quota { p = 1 }'],
    ['{"quota": {"a": {}}}', 'quota { a = {} }'],
    ['{"space": {"s": {"key": {"a": {"p": "${x}"}}}}}', 'space "s" {\nkey "a" { p = "$${x}" }\n}'],
  ])('%s', (json, hcl) => {
    const printed = printBody(withoutRanges(expandBlocks(parseJsonBody(json), shape)));
    expect(printed).toBe(printBody(withoutRanges(parseHcl(hcl))));
  });

  test('objects in HCL may stand for blocks', () => {
    const body = parseHcl('key = { a = { p = 1 } }\nspace "s" {\nkey = { b = {} }\n}');
    expect(printBody(withoutRanges(expandBlocks(body, shape)))).toBe(
      printBody(withoutRanges(parseHcl('key "a" { p = 1 }\nspace "s" {\nkey "b" {}\n}'))),
    );
  });
});
