import { namedEscapes } from '../../functions/escapes.ts';
import { FunctionFault } from '../../functions/fault.ts';
import { exponentText, fixedText, generalText } from '../../functions/number-text.ts';
import { floatText, formatted, sizeOf } from '../format-value.ts';
import { templateLimits } from '../limits.ts';
import type { RunContext } from '../run-context.ts';
import { describeValue, isNumber, type TemplateValue } from '../value.ts';

interface Verb {
  readonly letter: string;
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}

const directive = /%([-+# 0]*)(\*|[0-9]+)?(?:\.(\*|[0-9]*))?(?:\[([0-9]+)\])?(.|$)/gsu;

/**
 * Formats the values. A value that does not fit is an error; the reference implementation writes a complaint
 * into the text.
 */
export function printedFormat(
  format: string,
  values: readonly TemplateValue[],
  { budget }: RunContext,
): string {
  budget.make(format.length);
  budget.walk(format.length);
  let at = 0;
  let isIndexed = false;
  const take = (): TemplateValue => {
    const value = values[at++];
    if (value !== undefined) return value;
    throw new FunctionFault(`the format has no value for its verb number ${at}`, 0);
  };
  const sizeFrom = (text: string | undefined): number | undefined => {
    if (text === undefined) return undefined;
    const size = text === '*' ? take() : BigInt(text.slice(0, 10) || '0');
    if (typeof size === 'bigint' && size >= 0n && size <= BigInt(templateLimits.printedSizeMax))
      return Number(size);
    throw new FunctionFault(
      `widths and precisions are whole numbers from 0 to ${templateLimits.printedSizeMax}`,
      0,
    );
  };
  const result = format.replace(directive, (_, ...parts: readonly (string | undefined)[]) => {
    const [flags = '', width, precision, index, letter = ''] = parts;
    if (letter === '%') return '%';
    if (letter === '') throw new FunctionFault('the format ends within a verb', 0);
    const has = (flag: string): boolean => flags.includes(flag);
    const verb: Verb = {
      letter,
      plus: has('+'),
      minus: has('-'),
      sharp: has('#'),
      space: has(' '),
      zero: has('0') && !has('-'),
      width: sizeFrom(width),
      precision: sizeFrom(precision),
    };
    if (index !== undefined) {
      isIndexed = true;
      at = Number(index) - 1;
    }
    const value = take();
    const size = sizeOf(value) + (verb.width ?? 0) + (verb.precision ?? 0);
    budget.make(size);
    budget.walk(size);
    return padded(written(value, verb, at), verb, value);
  });
  if (at < values.length && !isIndexed) {
    throw new FunctionFault('the format has no verb for this value', at + 1);
  }
  return result;
}

function written(value: TemplateValue, verb: Verb, argument: number): string {
  const { letter, precision } = verb;
  const refuse = (needed: string): FunctionFault =>
    new FunctionFault(`"%${letter}" needs ${needed}, not ${describeValue(value)}`, argument);
  switch (letter) {
    case 'v':
      if (typeof value === 'number') return general(value, precision);
      return typeof value === 'string' ? shortened(value, precision) : formatted(value);
    case 's':
      return shortened(formatted(value), precision);
    case 'q':
      if (typeof value === 'bigint') return quotedCharacter(value, argument);
      if (typeof value !== 'string') throw refuse('text');
      if (verb.sharp && /^[^`\p{C}]*$/u.test(value)) return `\`${shortened(value, precision)}\``;
      return quoted(shortened(value, precision));
    case 't':
      if (typeof value !== 'boolean') throw refuse('a bool');
      return String(value);
    case 'd':
    case 'b':
    case 'o':
    case 'O':
      if (typeof value !== 'bigint') throw refuse('a whole number');
      return wholeText(value, verb);
    case 'x':
    case 'X':
      if (typeof value === 'bigint') return wholeText(value, verb);
      if (typeof value !== 'string') throw refuse('text or a whole number');
      return hexText(value, verb);
    case 'c':
    case 'U':
      if (typeof value !== 'bigint') throw refuse('a whole number');
      return letter === 'c' ? characterOf(value, argument) : `U+${hex(value).padStart(4, '0')}`;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (!isNumber(value)) throw refuse('a number');
      return signed(fractionText(Number(value), verb), verb);
    default:
      throw new FunctionFault(`the format has an unknown verb "%${letter}"`, 0);
  }
}

function padded(text: string, { width = 0, minus, zero }: Verb, value: TemplateValue): string {
  const length = [...text].length;
  if (length >= width) return text;
  const missing = width - length;
  if (minus) return text + ' '.repeat(missing);
  if (!zero || !isNumber(value)) return (zero ? '0' : ' ').repeat(missing) + text;
  const [, sign, rest] = /^([-+ ]?(?:0[xXbo])?)(.*)$/s.exec(text)!;
  return `${sign}${'0'.repeat(missing)}${rest}`;
}

const shortened = (text: string, precision: number | undefined): string =>
  precision === undefined ? text : [...text].slice(0, precision).join('');

const hex = (value: bigint): string => value.toString(16).toUpperCase();

function signed(text: string, { plus, space }: Verb): string {
  if (text.startsWith('-') || text.startsWith('+')) return text;
  if (plus) return `+${text}`;
  return space ? ` ${text}` : text;
}

const bases: Readonly<Record<string, { base: number; prefix: string }>> = {
  d: { base: 10, prefix: '' },
  b: { base: 2, prefix: '0b' },
  o: { base: 8, prefix: '0' },
  O: { base: 8, prefix: '0o' },
  x: { base: 16, prefix: '0x' },
  X: { base: 16, prefix: '0X' },
};

function wholeText(value: bigint, verb: Verb): string {
  const { letter, sharp, precision } = verb;
  const { base, prefix } = bases[letter]!;
  const isNegative = value < 0n;
  let digits = (isNegative ? -value : value).toString(base);
  if (letter === 'X') digits = digits.toUpperCase();
  if (precision !== undefined) digits = digits.padStart(precision, '0');
  const before = letter === 'O' || (sharp && letter !== 'd') ? prefix : '';
  return signed(`${isNegative ? '-' : ''}${before}${digits}`, verb);
}

function hexText(value: string, { letter, sharp, space, precision }: Verb): string {
  const digits = Buffer.from(value).subarray(0, precision).toString('hex');
  const prefix = sharp ? '0x' : '';
  const pairs = (): string => digits.replace(/../g, (pair) => ` ${prefix}${pair}`).slice(1);
  const text = space ? pairs() : prefix + digits;
  return letter === 'X' ? text.toUpperCase() : text;
}

function fractionText(value: number, { letter, precision }: Verb): string {
  const lower = letter.toLowerCase();
  if (!Number.isFinite(value)) return floatText(value);
  let text: string;
  if (lower === 'f') text = fixedText(value, Math.min(precision ?? 6, 100));
  else if (lower === 'e') text = exponentText(value.toExponential(Math.min(precision ?? 6, 100)));
  else text = general(value, precision);
  return letter === lower ? text : text.toUpperCase();
}

const general = (value: number, precision: number | undefined): string =>
  precision === undefined || !Number.isFinite(value)
    ? floatText(value)
    : generalText(value, precision);

function characterOf(value: bigint, argument: number): string {
  const isCharacter = value >= 0n && value <= 0x10ffffn && !(value >= 0xd800n && value <= 0xdfffn);
  if (isCharacter) return String.fromCodePoint(Number(value));
  throw new FunctionFault('there is no character of this number', argument);
}

const letterOf = new Map([...namedEscapes].map(([letter, character]) => [character, letter]));

const quoted = (text: string): string =>
  `"${text.toWellFormed().replace(/["\\]|[\p{C}\p{Z}]/gu, (one) => escapedIn(one, '"'))}"`;

function quotedCharacter(value: bigint, argument: number): string {
  const character = characterOf(value, argument);
  return `'${character.replace(/['\\]|[\p{C}\p{Z}]/gu, (one) => escapedIn(one, "'"))}'`;
}

function escapedIn(character: string, quote: string): string {
  if (character === ' ') return character;
  if (character === quote) return `\\${quote}`;
  const letter = letterOf.get(character);
  if (letter !== undefined) return `\\${letter}`;
  const point = character.codePointAt(0)!;
  const digits = point.toString(16);
  if (point < 0x80) return `\\x${digits.padStart(2, '0')}`;
  return point > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}
