import { plainText } from '../functions/number-text.ts';

/**
 * Decimal arithmetic on doubles.
 *
 * 1. A double stands for the shortest decimal fraction that rounds to it: 0.1 is one tenth.
 * 2. Sums, differences, products and remainders are exact before they are rounded once to a double, so
 *    `0.1 + 0.2` is `0.3`. A quotient is also rounded once.
 * 3. A whole number that a double cannot hold is refused instead of rounded: it may be an id or a size in
 *    bytes, and nobody would notice the change.
 * 4. No result is infinite or `NaN`.
 */

/** `value × 10^-scale` */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** The reasons why a number is refused: too great, or a whole number with too many digits. */
export type Inexact = 'inexact' | 'infinite';

/** The end of a message for each reason. */
export const inexact: Readonly<Record<Inexact, string>> = {
  infinite: 'is too large to be a number',
  inexact: 'has more digits than a number holds; write such numbers as strings',
};

const form = /^([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,9}))?$/;

/** The number of a text; `undefined` if the text is no number. */
export function numberIn(text: string): number | Inexact | undefined {
  const found = form.exec(text);
  if (found === null) return undefined;
  const [, sign, whole, fraction = '', exponent = '0'] = found;
  const value = Number(text);
  if (!Number.isFinite(value)) return 'infinite';
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value || 0;
  const scale = fraction.length - Number(exponent);
  // A double of this size has no fraction, and holds only the first digits.
  if (whole!.length + fraction.length > 400) return 'inexact';
  const exact = wholeOf({ digits: BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`), scale });
  return exact === wholeOf(decimalOf(value)) ? value : 'inexact';
}

/** The whole number; `undefined` if it has a fraction. */
function wholeOf({ digits, scale }: Decimal): bigint | undefined {
  if (scale <= 0) return digits * 10n ** BigInt(-scale);
  const divisor = 10n ** BigInt(scale);
  return digits % divisor === 0n ? digits / divisor : undefined;
}

export type Arithmetic = '+' | '-' | '*' | '/' | '%';

/** The divisor is not zero. */
export function calculate(left: number, operator: Arithmetic, right: number): number | Inexact {
  const quick = fast(left, operator, right);
  if (quick !== undefined && Number.isSafeInteger(quick)) return quick || 0;
  const one = decimalOf(left);
  const other = decimalOf(right);
  switch (operator) {
    case '+':
    case '-': {
      const scale = Math.max(one.scale, other.scale);
      const shifted = shift(other, scale);
      const digits = shift(one, scale) + (operator === '+' ? shifted : -shifted);
      return rounded({ digits, scale });
    }
    case '*':
      return rounded({ digits: one.digits * other.digits, scale: one.scale + other.scale });
    case '%': {
      const scale = Math.max(one.scale, other.scale);
      return rounded({ digits: shift(one, scale) % shift(other, scale), scale });
    }
    case '/':
      return quotient(one, other);
  }
}

/** Whole powers are exact unless they are too high. */
export function power(base: number, exponent: number): number | Inexact {
  if (Number.isInteger(exponent) && exponent >= 0 && exponent <= 64) {
    const { digits, scale } = decimalOf(base);
    return rounded({ digits: digits ** BigInt(exponent), scale: scale * exponent });
  }
  const result = base ** exponent;
  if (!Number.isFinite(result)) return 'infinite';
  return result || 0;
}

export function wholeNumber(whole: bigint): number | Inexact {
  const value = Number(whole);
  if (!Number.isFinite(value)) return 'infinite';
  return whole === wholeOf(decimalOf(value)) ? value : 'inexact';
}

/** The common case of whole numbers. */
function fast(left: number, operator: Arithmetic, right: number): number | undefined {
  if (!Number.isSafeInteger(left) || !Number.isSafeInteger(right)) return undefined;
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '%':
      return left % right;
    case '/':
      return left % right === 0 ? left / right : undefined;
  }
}

/** Digits beyond what a double holds, so that rounding them once more changes nothing. */
const quotientDigits = 40;

function quotient(one: Decimal, other: Decimal): number | Inexact {
  const scale = Math.max(one.scale, other.scale);
  const dividend = shift(one, scale);
  const divisor = shift(other, scale);
  if (dividend % divisor === 0n) return rounded({ digits: dividend / divisor, scale: 0 });
  const lengths = String(divisor).length - String(dividend).length;
  const more = Math.max(0, quotientDigits + lengths);
  const digits = (dividend * 10n ** BigInt(more)) / divisor;
  return Number(`${digits}e-${more}`) || 0;
}

function decimalOf(value: number): Decimal {
  const text = plainText(value);
  const point = text.indexOf('.');
  if (point < 0) return { digits: BigInt(text), scale: 0 };
  return {
    digits: BigInt(text.slice(0, point) + text.slice(point + 1)),
    scale: text.length - point - 1,
  };
}

const shift = ({ digits, scale }: Decimal, to: number): bigint =>
  digits * 10n ** BigInt(to - scale);

function rounded(decimal: Decimal): number | Inexact {
  const value = Number(`${decimal.digits}e${-decimal.scale}`);
  if (!Number.isFinite(value)) return 'infinite';
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value || 0;
  return wholeOf(decimal) === wholeOf(decimalOf(value)) ? value : 'inexact';
}
