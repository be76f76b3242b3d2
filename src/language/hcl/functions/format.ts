import { FunctionFault } from '../../functions/fault.ts';
import { exponentText, fixedText, generalText, plainText } from '../../functions/number-text.ts';
import type { Budget } from '../budget.ts';
import { boolOf, ConversionFault, numberOf, textOf } from '../convert.ts';
import { functionLimits } from '../limits.ts';
import { itemsOf, kindOf, type Value } from '../value.ts';
import { jsonText, quotedText } from './json-text.ts';

/** `%[flags][width][.precision][[n]]verb` */
const verbForm = /%([ +\-0#]*)([0-9]*)(?:\.([0-9]*))?(?:\[([0-9]{1,9})\])?(.?)/suy;

interface Verb {
  readonly letter: string;
  readonly flags: string;
  /** The width in characters. */
  readonly width: number;
  readonly precision: number | undefined;
  /** The verb as written, for faults. */
  readonly written: string;
}

/**
 * Formats values by a specification: `%s %q %v %#v %t %d %b %o %x %X %e %E %f %g %G %%`, with flags, width,
 * precision and `[n]` for the argument.
 */
export function format(spec: string, values: readonly Value[], budget: Budget): string {
  let text = '';
  let next = 0;
  let used = 0;
  for (let at = 0; at < spec.length; ) {
    const sign = spec.indexOf('%', at);
    if (sign < 0) {
      text += spec.slice(at);
      break;
    }
    text += spec.slice(at, sign);
    verbForm.lastIndex = sign;
    const [written, flags = '', width, precision, index, letter = ''] = verbForm.exec(spec)!;
    at = sign + written.length;
    budget.work(1);
    if (letter === '%') {
      text += '%';
      continue;
    }
    if (index !== undefined) next = Number(index) - 1;
    const verb = {
      letter,
      flags,
      width: sizeOf(width, written),
      precision: precision === undefined ? undefined : sizeOf(precision, written),
      written,
    };
    if (next < 0 || next >= values.length) {
      const given = values.length === 1 ? '1 value is' : `${values.length} values are`;
      throw new FunctionFault(`"${shown(written)}" needs value ${next + 1}, and ${given} given`, 0);
    }
    const piece = formatValue(verb, values[next]!, next + 1, budget);
    budget.make(piece.length);
    text += piece;
    next += 1;
    used = Math.max(used, next);
  }
  if (used < values.length) {
    const sentence = `${used} of ${values.length} values are used`;
    throw new FunctionFault(sentence, used + 1);
  }
  budget.make(spec.length);
  return text;
}

/** Formats a text for each element of the lists. Other values are in every text. */
export function formatList(
  spec: string,
  values: readonly Value[],
  budget: Budget,
): readonly string[] {
  const lists = values.map(itemsOf);
  const count = lists.find((one) => one !== undefined)?.length ?? 1;
  const other = lists.findIndex((one) => one !== undefined && one.length !== count);
  if (other >= 0) {
    const sentence = `lists have the same length, not ${count} and ${lists[other]!.length}`;
    throw new FunctionFault(sentence, other + 1);
  }
  const texts = Array.from({ length: count }, (_, row) =>
    format(
      spec,
      values.map((value, index) => (lists[index] === undefined ? value : lists[index][row]!)),
      budget,
    ),
  );
  return budget.made(texts);
}

function sizeOf(digits: string | undefined, written: string): number {
  const size = Number(digits ?? 0);
  if (size <= functionLimits.formatSizeMax) return size;
  throw new FunctionFault(
    `"${shown(written)}" asks for more than ${functionLimits.formatSizeMax} characters`,
    0,
  );
}

const shown = (text: string): string => text.slice(0, 40).toWellFormed();

function formatValue(verb: Verb, value: Value, argument: number, budget: Budget): string {
  try {
    return formatted(verb, value, budget);
  } catch (error) {
    if (!(error instanceof ConversionFault)) throw error;
    throw new FunctionFault(`what "${shown(verb.written)}" formats ${error.message}`, argument);
  }
}

function formatted(verb: Verb, value: Value, budget: Budget): string {
  const { letter, flags, precision } = verb;
  switch (letter) {
    case 'v':
      return formatDefault(verb, value, budget);
    case 't':
      return padded(verb, String(boolOf(value)));
    case 's':
      return padded(verb, cut(textOf(value), precision));
    case 'q':
      return padded(verb, quotedText(cut(textOf(value), precision)));
    case 'd':
      return numeric(verb, wholeOf(value), (digits) => digits.toString(10));
    case 'b':
      return numeric(verb, wholeOf(value), (digits) => digits.toString(2));
    case 'o':
      return numeric(verb, wholeOf(value), (digits) => digits.toString(8));
    case 'x':
      return numeric(verb, wholeOf(value), (digits) => digits.toString(16));
    case 'X':
      return numeric(verb, wholeOf(value), (digits) => digits.toString(16).toUpperCase());
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return floating(verb, numberOf(value));
    case '':
      throw new FunctionFault('a "%" ends the text; write "%%" to mean the character', 0);
    default: {
      const known = '%v %#v %s %q %t %d %b %o %x %X %e %E %f %g %G';
      const wrong = `"%${shown(flags)}${letter.toWellFormed()}"`;
      throw new FunctionFault(`there is no verb ${wrong}; there are ${known}`, 0);
    }
  }
}

function formatDefault(verb: Verb, value: Value, budget: Budget): string {
  const kind = kindOf(value);
  if (verb.flags.includes('#') || kind === 'list' || kind === 'set' || kind === 'object') {
    return padded(verb, jsonText(value, budget));
  }
  if (value === null) return padded(verb, 'null');
  const letter = kind === 'number' ? 'g' : kind === 'bool' ? 't' : 's';
  return formatted({ ...verb, letter }, value, budget);
}

function wholeOf(value: Value): bigint {
  const read = numberOf(value);
  if (Number.isInteger(read)) return BigInt(read);
  throw new ConversionFault(`has to be a whole number, and is ${plainText(read)}`);
}

/** The precision of a whole number is the least number of its digits. */
function numeric(verb: Verb, value: bigint, write: (digits: bigint) => string): string {
  const digits = write(value < 0n ? -value : value).padStart(verb.precision ?? 0, '0');
  return signed(verb, value < 0n, digits, verb.precision === undefined);
}

function floating(verb: Verb, value: number): string {
  const { letter, precision } = verb;
  const size = Math.abs(value);
  const small = letter.toLowerCase();
  const text =
    small === 'f'
      ? fixedText(size, precision ?? 6)
      : small === 'e'
        ? exponentText(size.toExponential(Math.min(precision ?? 6, 100)))
        : general(size, precision);
  return signed(verb, value < 0, letter === small ? text : text.toUpperCase(), true);
}

/** The shortest form, or that with at most `precision` digits. */
function general(value: number, precision: number | undefined): string {
  if (precision !== undefined) return generalText(value, precision);
  const text = value.toExponential();
  const exponent = Number(text.split('e')[1]);
  return exponent < -4 || exponent >= 21 ? exponentText(text) : plainText(value);
}

function signed(verb: Verb, isNegative: boolean, digits: string, mayFill: boolean): string {
  const { flags, width } = verb;
  const sign = isNegative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  const isFilled = mayFill && flags.includes('0') && !flags.includes('-');
  const filled = isFilled ? digits.padStart(width - sign.length, '0') : digits;
  return padded(verb, sign + filled);
}

/** The width counts characters, not units of UTF-16. */
function padded({ width, flags }: Verb, text: string): string {
  if (text.length >= width * 2) return text;
  const missing = width - Array.from(text).length;
  if (missing <= 0) return text;
  if (flags.includes('-')) return text + ' '.repeat(missing);
  return ' '.repeat(missing) + text;
}

const cut = (text: string, precision: number | undefined): string =>
  precision === undefined ? text : Array.from(text).slice(0, precision).join('');
