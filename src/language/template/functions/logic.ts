import { FunctionFault } from '../../functions/fault.ts';
import {
  compareText,
  describeValue,
  isNumber,
  isSameNumber,
  isTrue,
  type TemplateValue,
} from '../value.ts';
import { any, define, type Functions, rest } from './define.ts';

export const logicFunctions: Functions = {
  // The evaluator evaluates `and` and `or` itself, up to the deciding operand.
  and: define([any('value'), rest(any('values'))], ([value]) => value),
  or: define([any('value'), rest(any('values'))], ([value]) => value),
  not: define([any('value')], ([value]) => !isTrue(value)),
  eq: define([any('left'), any('right'), rest(any('others'))], ([left, right, others]) =>
    [right, ...others].some((other, index) => isEqual(left, other, index + 1)),
  ),
  ne: define([any('left'), any('right')], ([left, right]) => !isEqual(left, right, 1)),
  lt: define([any('left'), any('right')], ([left, right]) => compare(left, right) < 0),
  le: define([any('left'), any('right')], ([left, right]) => compare(left, right) <= 0),
  gt: define([any('left'), any('right')], ([left, right]) => compare(left, right) > 0),
  ge: define([any('left'), any('right')], ([left, right]) => compare(left, right) >= 0),
};

function isEqual(left: TemplateValue, right: TemplateValue, index: number): boolean {
  if (left === null || right === null) return left === right;
  for (const [value, at] of [[left, 0] as const, [right, index] as const]) {
    if (typeof value === 'object') {
      throw new FunctionFault(`${describeValue(value)} cannot be compared`, at);
    }
  }
  if (isNumber(left) && isNumber(right)) return isSameNumber(left, right);
  if (typeof left === typeof right) return left === right;
  throw new FunctionFault(
    `${describeValue(left)} and ${describeValue(right)} cannot be compared`,
    index,
  );
}

function compare(left: TemplateValue, right: TemplateValue): number {
  if (isNumber(left) && isNumber(right)) {
    if (left < right) return -1;
    if (left > right) return 1;
    return isSameNumber(left, right) ? 0 : Number.NaN;
  }
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  throw new FunctionFault(`${describeValue(left)} and ${describeValue(right)} have no order`, 1);
}
