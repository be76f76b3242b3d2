import { describe, expect, test } from 'vitest';
import { evaluateConstant, type HclValue } from './constant.ts';
import type { HclError } from './errors.ts';
import { parseHclExpression } from './parse.ts';

const evaluate = (text: string): HclValue => evaluateConstant(parseHclExpression(text), text);

describe('constants', () => {
  test.each<[text: string, value: HclValue]>([
    ['1.5', 1.5],
    ['-1', -1],
    ['-0', 0],
    ['!true', false],
    ['null', null],
    ['(("a"))', 'a'],
    ['[1, "a", [true]]', [1, 'a', [true]]],
    ['{a = 1, "b c" = [2], (3) = {}, true = null}', { a: 1, 'b c': [2], 3: {}, true: null }],
    ['"a${1}b${true}${"c"}"', 'a1btruec'],
    ['"${[1]}"', [1]],
    ['"${~ 1 ~}"', 1],
    ['" ${~ 1}"', '1'],
    ['"${1e21} ${1.5e-7}"', '1000000000000000000000 0.00000015'],
    ['{1e21 = 1}', { '1000000000000000000000': 1 }],
    ['"${"${"a"}"}"', 'a'],
    ['<<-E\n  a\n E\n', 'a\n'],
  ])('%s', (text, value) => {
    expect(evaluate(text)).toEqual(value);
  });

  test('a key cannot reach the prototype', () => {
    const value = evaluate('{"__proto__" = {a = 1}}') as Record<string, HclValue>;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(value.a).toBeUndefined();
  });

  test.each<[text: string, place: string, sentence: string]>([
    ['[1, a.b]', '1:5', 'Only fixed values may stand here, not a reference'],
    ['"x${a}"', '1:5', 'Only fixed values may stand here, not a reference to "a"'],
    ['f(1)', '1:1', 'Only fixed values may stand here, not a call of "f"'],
    ['1 + 1', '1:1', 'Only fixed values may stand here, not the operation "+"'],
    ['true ? 1 : 2', '1:1', 'Only fixed values may stand here, not a condition'],
    ['[for x in [1]: x]', '1:1', 'Only fixed values may stand here, not a "for" expression'],
    ['"%{ if true }a%{ endif }"', '1:2', 'Only fixed values may stand here, not a directive'],
    ['-"a"', '1:1', '"-" needs a number'],
    ['!1', '1:1', '"!" needs true or false'],
    ['"a${[1]}"', '1:5', 'This value has no form as text'],
    ['"a${null}"', '1:5', 'This value has no form as text'],
    ['{([1]) = 2}', '1:2', 'This value has no form as text'],
  ])('%s is refused', (text, place, sentence) => {
    expect.assertions(2);
    try {
      evaluate(text);
    } catch (error) {
      const { line, column, sentence: found } = error as HclError;
      expect(`${line}:${column}`).toBe(place);
      expect(found).toBe(sentence);
    }
  });
});
