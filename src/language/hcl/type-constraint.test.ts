import { describe, expect, test } from 'vitest';
import { Budget } from './budget.ts';
import { ConversionFault, convert } from './convert.ts';
import type { HclError } from './errors.ts';
import { evaluate } from './evaluate.ts';
import { scopeOf, valueOfText } from './evaluation.test-helper.ts';
import { parseHclExpression } from './parse.ts';
import { referencesOf } from './references.ts';
import { Source } from './source.ts';
import { typeConstraint } from './type-constraint.ts';
import { type HclType, typeText } from './types.ts';
import { plainOf } from './value.ts';

const typeOfText = (text: string): HclType =>
  typeConstraint(parseHclExpression(text), new Source(text), (node) =>
    evaluate(node, scopeOf(text)),
  );

describe('types', () => {
  test.each([
    ['string', 'string'],
    ['"number"', 'number'],
    ['any', 'any'],
    ['list', 'list(any)'],
    ['map(list(bool))', 'map(list(bool))'],
    ['set(number)', 'set(number)'],
    ['tuple([string, number])', 'tuple([string, number])'],
    ['object({a = string, b = optional(number, 1)})', 'object({a = string, b = optional(number)})'],
    ['object({})', 'object({})'],
  ])('%s', (text, written) => expect(typeText(typeOfText(text))).toBe(written));

  test.each([
    ['strin', '1:1 There is no type "strin"; did you mean "string"?'],
    ['lits(string)', '1:1 There is no type "lits"; did you mean "list"?'],
    ['object', '1:1 "object" needs to know of what; write object({name = string})'],
    ['tuple', '1:1 "tuple" needs to know of what; write tuple([string, number])'],
    ['list(string, number)', '1:1 "list" takes one argument'],
    ['tuple(string)', '1:7 "tuple" takes a list of types in brackets'],
    ['object([string])', '1:8 "object" takes types by name in braces'],
    [
      'object({a = 1})',
      '1:13 Expected a type, such as any, string, number, bool, list, set, map, tuple, object',
    ],
    ['object({a = string, a = string})', '1:21 "a" is listed already'],
    ['object({(x) = string})', '1:9 The name of an attribute has to be fixed'],
    ['optional(string)', '1:1 Only an attribute of an object is optional'],
    ['object({a = optional()})', '1:13 "optional" takes a type and, if there is one, a default'],
  ])('%s is refused', (text, fault) => {
    expect.assertions(1);
    try {
      typeOfText(text);
    } catch (error) {
      const { line, column, sentence } = error as HclError;
      expect(`${line}:${column} ${sentence}`).toBe(fault);
    }
  });
});

describe('conversion', () => {
  test.each<readonly [type: string, value: string, found: unknown]>([
    ['string', '1.50', '1.5'],
    ['number', '"1.50"', 1.5],
    ['bool', '"false"', false],
    ['string', 'null', null],
    ['list(string)', '[1, null, true]', ['1', null, 'true']],
    ['set(string)', '["b", "a", "b"]', ['a', 'b']],
    ['list(number)', 'toset(["2", "1"])', [1, 2]],
    ['map(string)', '{a = 1}', { a: '1' }],
    ['object({a = string})', '{a = 1, b = 2}', { a: '1' }],
    ['object({a = optional(string), b = optional(number, "7")})', '{}', { a: null, b: 7 }],
    ['list(object({a = optional(string, "x")}))', '[{}, {a = "y"}]', [{ a: 'x' }, { a: 'y' }]],
  ])('%s of %s', (type, value, found) => {
    expect(plainOf(convert(valueOfText(value), typeOfText(type), new Budget()))).toEqual(
      Array.isArray(found) || found === null || typeof found !== 'object'
        ? found
        : expect.objectContaining(found),
    );
  });

  test.each([
    ['number', '"x"', 'has to be a number, and is the string "x"'],
    ['list(number)', '[1, "x"]', 'has to be a number, and is the string "x", at [1]'],
    ['list(string)', '"x"', 'has to be list(string), and is a string'],
    ['map(number)', '{"a b" = "x"}', 'has to be a number, and is the string "x", at ["a b"]'],
    [
      'object({a = object({b = bool})})',
      '{a = {b = 2}}',
      'has to be true or false, and is a number, at a.b',
    ],
    ['object({a = string, b = string})', '{}', 'lacks the attribute "a", "b"'],
    ['tuple([string])', '[]', 'has to have 1 elements, and has 0'],
    ['string', '[]', 'has to be a string, and is a list'],
    [
      'number',
      '"12345678901234567890"',
      'has to be a number, and "12345678901234567890" has more digits than a number holds',
    ],
  ])('%s of %s is refused', (type, value, sentence) => {
    const run = () => convert(valueOfText(value), typeOfText(type), new Budget());
    expect(run).toThrow(ConversionFault);
    expect(run).toThrow(sentence);
  });
});

describe('references', () => {
  test.each<readonly [text: string, references: readonly string[]]>([
    ['1 + "a"', []],
    ['var.a + local.b.c["d"]', ['var.a', 'local.b']],
    ['local["a"]', ['local.a']],
    ['local[var.x]', ['local', 'var.x']],
    ['local', ['local']],
    ['[for local in var.list: local.a]', ['var.list']],
    ['[for k, v in local.m: "${k}${v.x}${var.y}"]', ['local.m', 'var.y']],
    ['"%{ for v in local.l }${v}${local.z}%{ endfor }"', ['local.l', 'local.z']],
    ['var.list[*].id[local.i]', ['var.list', 'local.i']],
    ['{(var.k) = f(local.a...)}', ['var.k', 'local.a']],
  ])('%s', (text, references) => {
    const found = referencesOf(parseHclExpression(text)).map(({ name, attribute }) =>
      attribute === undefined ? name : `${name}.${attribute}`,
    );
    expect(found).toEqual(references);
  });
});
