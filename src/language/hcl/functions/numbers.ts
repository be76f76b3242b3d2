import { FunctionFault } from '../../functions/fault.ts';
import { calculate, inexact, power, wholeNumber } from '../decimal.ts';
import { functionLimits } from '../limits.ts';
import { define, type Functions, number, numbers, text, variadic, whole } from './define.ts';

/** The number; throws a fault if a double cannot hold it. */
function kept(result: number | keyof typeof inexact): number {
  if (typeof result === 'number') return result;
  throw new FunctionFault(`the result ${inexact[result]}`);
}

export const numberFunctions: Functions = {
  abs: define([number('number')], ([value]) => Math.abs(value)),
  ceil: define([number('number')], ([value]) => Math.ceil(value) || 0),
  floor: define([number('number')], ([value]) => Math.floor(value) || 0),
  log: define([number('number'), number('base')], ([value, base]) => logarithm(value, base)),
  max: variadic([number('number')], number('numbers'), ([first], more) =>
    more.reduce((most, one) => Math.max(most, one), first),
  ),
  min: variadic([number('number')], number('numbers'), ([first], more) =>
    more.reduce((least, one) => Math.min(least, one), first),
  ),
  parseint: define([text('string'), whole('base')], ([digits, base]) => parseWhole(digits, base)),
  pow: define([number('number'), number('exponent')], ([base, exponent]) =>
    kept(power(base, exponent)),
  ),
  signum: define([number('number')], ([value]) => Math.sign(value)),
  sum: define([numbers('list')], ([list]) => {
    if (list.length === 0) throw new FunctionFault('an empty list has no sum', 0);
    return list.reduce((total, one) => kept(calculate(total, '+', one)), 0);
  }),
};

function logarithm(value: number, base: number): number {
  if (value <= 0) throw new FunctionFault(`there is no logarithm of ${value}`, 0);
  if (base <= 0 || base === 1) throw new FunctionFault(`there is no logarithm to base ${base}`, 1);
  // These functions are exact if the result is a whole number.
  if (base === 2) return Math.log2(value);
  if (base === 10) return Math.log10(value);
  return Math.log(value) / Math.log(base) || 0;
}

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
function parseWhole(text: string, base: number): number {
  if (base < 2 || base > 62) {
    throw new FunctionFault(`the base is from 2 to 62, not ${base}`, 1);
  }
  const sign = /^[+-]/.test(text) ? text[0]! : '';
  const digits = text.slice(sign.length);
  // In large bases, capital letters are other digits than small letters.
  const written = base <= 36 ? digits.toLowerCase() : digits;
  const values = [...written.slice(0, functionLimits.digitsMax)].map((digit) =>
    alphabet.indexOf(digit),
  );
  const quoted = JSON.stringify(text.slice(0, 40).toWellFormed());
  if (values.length === 0 || values.some((value) => value < 0 || value >= base)) {
    throw new FunctionFault(`${quoted} is not a whole number in base ${base}`, 0);
  }
  if (digits.length > functionLimits.digitsMax) return kept('infinite');
  const size = values.reduce((total, value) => total * BigInt(base) + BigInt(value), 0n);
  return kept(wholeNumber(sign === '-' ? -size : size));
}
