import { FunctionFault } from '../../functions/fault.ts';
import type { RunContext } from '../run-context.ts';
import { fitsWhole, type TemplateValue } from '../value.ts';
import { define, type Functions, number, optional, text, whole } from './define.ts';

type Numeric = bigint | number;

export const numberFunctions: Functions = {
  add: define([number('a'), number('b')], ([a, b]) =>
    calculated(
      a,
      b,
      (x, y) => x + y,
      (x, y) => x + y,
    ),
  ),
  subtract: define([number('by'), number('from')], ([by, from]) =>
    calculated(
      from,
      by,
      (x, y) => x - y,
      (x, y) => x - y,
    ),
  ),
  multiply: define([number('a'), number('b')], ([a, b]) =>
    calculated(
      a,
      b,
      (x, y) => x * y,
      (x, y) => x * y,
    ),
  ),
  divide: define([number('by'), number('number')], ([by, value]) => {
    if (Number(by) === 0) throw new FunctionFault('nothing can be divided by zero', 0);
    return calculated(
      value,
      by,
      (x, y) => x / y,
      (x, y) => x / y,
    );
  }),
  modulo: define([whole('by'), whole('number')], ([by, value]) => {
    if (by === 0n) throw new FunctionFault('nothing can be divided by zero', 0);
    return value % by;
  }),
  minimum: define([number('a'), number('b')], ([a, b]) => lesser(a, b)),
  maximum: define([number('a'), number('b')], ([a, b]) => (lesser(a, b) === a ? b : a)),
  loop: define([whole('start'), optional(whole('end'))], ([start, end], { budget }) => {
    const [from, to] = end === undefined ? [0n, start] : [start, end];
    if (to <= from) return [];
    budget.work(Number(to - from));
    budget.make(Number(to - from) * 8);
    return Array.from({ length: Number(to - from) }, (_, index) => from + BigInt(index));
  }),
  parseBool: define([text('text')], ([value]) => {
    if (/^(?:1|t|T|true|TRUE|True)$/.test(value)) return true;
    if (/^(?:0|f|F|false|FALSE|False)$/.test(value)) return false;
    throw new FunctionFault('the text is neither true nor false', 0);
  }),
  parseInt: define([text('text')], ([value], context) => parsedWhole(value, context)),
  parseUint: define([text('text')], ([value], context) => {
    const read = parsedWhole(value, context);
    if (read >= 0n) return read;
    throw new FunctionFault('the number is below zero', 0);
  }),
  parseFloat: define([text('text')], ([value]) => {
    const isNumber = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(value);
    const read = isNumber ? Number(value) : Number.NaN;
    if (Number.isFinite(read)) return read;
    throw new FunctionFault('the text is no number', 0);
  }),
};

/** `Math.min` does not take both kinds of numbers. */
function lesser(a: Numeric, b: Numeric): Numeric {
  if (b < a) return b;
  return a;
}

function calculated(
  left: Numeric,
  right: Numeric,
  exactly: (left: bigint, right: bigint) => bigint,
  roughly: (left: number, right: number) => number,
): TemplateValue {
  if (typeof left !== 'bigint' || typeof right !== 'bigint') {
    return roughly(Number(left), Number(right));
  }
  const result = exactly(left, right);
  if (fitsWhole(result)) return result;
  throw new FunctionFault('the result takes more than 64 bits');
}

function parsedWhole(value: string, { budget }: RunContext): bigint {
  budget.work(1 + (value.length >> 6));
  const read = /^[+-]?[0-9]{1,40}$/.test(value) ? BigInt(value.replace(/^\+/, '')) : undefined;
  if (read === undefined) throw new FunctionFault('the text is no whole number', 0);
  if (fitsWhole(read)) return read;
  throw new FunctionFault('the number takes more than 64 bits', 0);
}
