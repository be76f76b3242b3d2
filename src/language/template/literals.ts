import { namedEscapes } from '../functions/escapes.ts';
import type { Source } from '../hcl/source.ts';
import { syntaxError } from './errors.ts';
import { templateLimits } from './limits.ts';
import { fitsWhole, type TemplateValue } from './value.ts';

export interface Literal {
  readonly value: TemplateValue;
  /** Length of the literal in the text. */
  readonly length: number;
}

/** Reads `"text with \n escapes"` or `` `raw text` ``. */
export function quotedText(source: Source, start: number): Literal {
  const { text } = source;
  const quote = text[start]!;
  if (quote === '`') {
    const end = text.indexOf('`', start + 1);
    if (end < 0) throw syntaxError(source, 'This text has no closing quote', start);
    return { value: text.slice(start + 1, end).replaceAll('\r', ''), length: end + 1 - start };
  }
  let bytes: number[] = [];
  let value = '';
  const flush = (): void => {
    if (bytes.length > 0) value += Buffer.from(bytes).toString('utf8');
    bytes = [];
  };
  for (let at = start + 1; at < text.length; ) {
    const character = text[at]!;
    if (character === '"') {
      flush();
      return { value, length: at + 1 - start };
    }
    if (character === '\n') break;
    if (character !== '\\') {
      flush();
      value += character;
      at++;
      continue;
    }
    const { text: escaped, byte, length } = escapeAt(source, at, '"');
    if (byte !== undefined) bytes.push(byte);
    else {
      flush();
      value += escaped;
    }
    at += length;
  }
  throw syntaxError(source, 'This text has no closing quote', start);
}

/** Reads `'a'`, the number of a character. */
export function characterIn(source: Source, start: number): Literal {
  const { text } = source;
  const escaped = text[start + 1] === '\\' ? escapeAt(source, start + 1, "'") : undefined;
  const point = escaped === undefined ? text.codePointAt(start + 1) : undefined;
  const length = escaped?.length ?? (point !== undefined && point > 0xffff ? 2 : 1);
  const number = escaped === undefined ? point : (escaped.byte ?? escaped.text.codePointAt(0));
  if (number === undefined || text[start + 1] === "'" || text[start + 1 + length] !== "'") {
    throw syntaxError(source, 'One character and a closing quote have to follow here', start);
  }
  return { value: BigInt(number), length: length + 2 };
}

interface Escape {
  readonly text: string;
  /** A byte of a character in UTF-8. */
  readonly byte?: number;
  readonly length: number;
}

function escapeAt(source: Source, at: number, quote: string): Escape {
  const rest = source.text.slice(at + 1, at + 10);
  const character = rest[0] ?? '';
  if (character === quote) return { text: quote, length: 2 };
  const named = namedEscapes.get(character);
  if (named !== undefined) return { text: named, length: 2 };
  const byte = /^(?:x([0-9a-fA-F]{2})|([0-3][0-7]{2}))/.exec(rest);
  if (byte !== null) {
    const number = byte[1] === undefined ? Number.parseInt(byte[2]!, 8) : parseHex(byte[1]);
    return { text: '', byte: number, length: byte[0].length + 1 };
  }
  const point = /^(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/.exec(rest);
  if (point !== null) {
    const number = parseHex(point[1] ?? point[2]!);
    const isCharacter = number <= 0x10ffff && !(number >= 0xd800 && number <= 0xdfff);
    if (isCharacter) return { text: String.fromCodePoint(number), length: point[0].length + 1 };
  }
  throw syntaxError(source, 'This is no escape; a backslash itself is written twice', at);
}

const parseHex = (digits: string): number => Number.parseInt(digits, 16);

const whole = /^([+-]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const fraction = /^[+-]?(?=.*[.eE])(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const written = /[+-]?(?:[0-9a-df-zA-DF-Z_.]|[eE][+-]?(?=[0-9])|[eE])*/y;

export function numberIn(source: Source, start: number): Literal {
  written.lastIndex = start;
  const text = written.exec(source.text)![0];
  const { length } = text;
  if (length > templateLimits.numberLengthMax)
    throw syntaxError(source, 'This number is too long', start);
  const digits = text.replace(/(?<=[0-9a-fA-FxXoObB])_(?=[0-9a-fA-F])/g, '');
  const parts = whole.exec(digits);
  if (parts !== null) {
    const [, sign, body] = parts;
    const octal = /^0[0-7]+$/.test(body!) ? `0o${body!.slice(1)}` : body!;
    const value = sign === '-' ? -BigInt(octal) : BigInt(octal);
    if (fitsWhole(value)) return { value, length };
    throw syntaxError(source, 'This number takes more than 64 bits', start);
  }
  const value = fraction.test(digits) ? Number(digits) : Number.NaN;
  if (Number.isFinite(value)) return { value, length };
  throw syntaxError(source, `"${text.slice(0, 40)}" is no number`, start);
}
