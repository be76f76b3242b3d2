import { compilePattern, PatternError } from './regex/pattern.ts';
import { type FieldType, fieldType, type JsonSchema } from './schema.ts';

/**
 * The meaning of the operators, by the type of the field. Rules, in order:
 * 1. A missing map key or list index is `absent`. Only `is empty` and `is nil` hold for it, and the negated
 *    operators.
 * 2. A declared field that is missing or null behaves as the zero value of its type. Only `is nil`
 *    distinguishes them.
 * 3. A literal is read once, by the type of the field. A value of another type never equals it.
 */
export const absent: unique symbol = Symbol('absent');

export type Test = (value: unknown) => boolean;

/**
 * The test of an operator; a sentence about the fault of the literal; or `undefined` if the operator does
 * not take this type.
 */
export type Built = Test | string | undefined;

export function valueTest(type: FieldType, operator: 'equal' | 'matches', text: string): Built {
  return operator === 'equal' ? equalTest(type, text) : matchesTest(type, text);
}

function equalTest(type: FieldType, text: string): Built {
  if (type.kind === 'list' || type.kind === 'object') return undefined;
  if (type.kind === 'any') return looselyEqual(text);
  const literal = readLiteral(type.kind, text);
  if (literal === undefined) return `${JSON.stringify(text)} is not ${literalNames[type.kind]}`;
  const isZero = literal === zeros[type.kind];
  return isZero ? (value) => value === literal || value == null : (value) => value === literal;
}

const zeros = { string: '', integer: 0, number: 0, boolean: false };

const literalNames = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
};

const integerForm = /^-?[0-9]{1,20}$/;
const numberForm = /^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;

function readLiteral(
  kind: keyof typeof zeros,
  text: string,
): string | number | boolean | undefined {
  if (kind === 'string') return text;
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (!(kind === 'integer' ? integerForm : numberForm).test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** Equality in free content: the literal is read by the type of the value. */
function looselyEqual(text: string): Test {
  const number = readLiteral('number', text);
  return (value) => {
    if (typeof value === 'string') return value === text;
    if (typeof value === 'number') return value === number;
    return typeof value === 'boolean' && String(value) === text;
  };
}

function matchesTest(type: FieldType, pattern: string): Built {
  if (type.kind !== 'string' && type.kind !== 'any') return undefined;
  let test: (text: string) => boolean;
  try {
    test = compilePattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) return `The pattern is not valid: ${error.message}`;
    throw error;
  }
  const ofNull = type.kind === 'string' && test('');
  return (value) => (typeof value === 'string' ? test(value) : value == null && ofNull);
}

/** The test of `contains` and `in`: substring, member, or key. */
export function elementTest(type: FieldType, text: string, root: JsonSchema): Built {
  if (type.kind === 'string') {
    return (value) => (typeof value === 'string' ? value.includes(text) : value == null && !text);
  }
  if (type.kind === 'list') {
    const equal = equalTest(fieldType(type.items, root), text);
    if (typeof equal !== 'function') return equal;
    return (value) => Array.isArray(value) && value.some(equal);
  }
  if (type.kind === 'object' && type.rest !== undefined) return (value) => hasKey(value, text);
  return type.kind === 'any' ? freelyContains(text) : undefined;
}

function freelyContains(text: string): Test {
  const equal = looselyEqual(text);
  return (value) => {
    if (typeof value === 'string') return value.includes(text);
    return Array.isArray(value) ? value.some(equal) : hasKey(value, text);
  };
}

const hasKey = (value: unknown, key: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key);

/** An object with declared fields is empty if it is missing; a map, if it has no key. */
export function emptyTest(type: FieldType): Test | undefined {
  if (type.kind === 'object' && type.rest === undefined) return isNothing;
  if (type.kind === 'string' || type.kind === 'list' || type.kind === 'object') return emptyContent;
  return type.kind === 'any' ? emptyContent : undefined;
}

/** The test of `is nil`, which takes every type. */
export const isNothing: Test = (value) => value === absent || value == null;

function emptyContent(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return value.length === 0;
  if (typeof value === 'object' && value !== null) {
    for (const key in value) if (Object.hasOwn(value, key)) return false;
    return true;
  }
  return isNothing(value);
}

/** Whether free content is absent or has a type that the operator takes. */
export function fits(operator: string, value: unknown): boolean {
  if (value === absent || value == null || typeof value === 'string') return true;
  if (operator === '==') return typeof value !== 'object';
  return operator !== 'matches' && typeof value === 'object';
}
