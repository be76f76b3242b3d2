import type { Source } from './source.ts';

/**
 * Reads tokens one by one, outside of templates: the parser asks for the next token of an expression or
 * body, and reads the inside of a string or heredoc itself. Spaces and comments are skipped. The parser
 * knows the meaning of a newline.
 */
export interface Token {
  readonly kind: 'name' | 'number' | 'quote' | 'heredoc' | 'newline' | 'symbol' | 'end';
  /** The token as written; of a heredoc, its closing word. */
  readonly text: string;
  readonly offset: number;
  /** Offset after the last character; of a quote or heredoc, the offset of its content. */
  readonly end: number;
  /** `<<-`: the common indentation of the lines is cut off. */
  readonly indented: boolean;
}

const space = /[ \t]*/y;
const number = /[0-9]+(?:\.[0-9]+)*(?:\.?[eE][+-]?[0-9]+(?:\.[0-9]+)*)?/y;
/** Digits or, as in the reference implementation, an exponent must follow the point. */
const wellFormedNumber = /^[0-9]+(?:\.[0-9]+|\.(?=[eE]))?(?:[eE][+-]?[0-9]+)?$/;
const asciiName = /[A-Za-z0-9_-]*/y;
const symbol = /\.\.\.|[=!<>]=|=>|&&|\|\||::|~\}|[-+*/%<>!=?:.,{}[\]()]/y;
const heredoc = /<<(-?)/y;
const nameStart = /[\p{ID_Start}_]/u;
/** Without the joiners of newer versions of Unicode, which are invisible in a name. */
const namePart = /[[\p{ID_Continue}\-]--[\u200C\u200D]]/v;

export function readToken(source: Source, from: number): Token {
  const { text } = source;
  const offset = skipBlank(source, from);
  const first = text[offset];
  if (first === undefined) return token('end', '', offset, offset);
  if (first === '\n') return token('newline', first, offset, offset + 1);
  if (first === '\r' && text[offset + 1] === '\n') {
    return token('newline', '\r\n', offset, offset + 2);
  }
  if (first === '"') return token('quote', first, offset, offset + 1);
  if (first >= '0' && first <= '9') {
    const digits = match(number, text, offset)!;
    return token('number', digits, offset, offset + digits.length);
  }
  const name = readName(text, offset);
  if (name !== '') return token('name', name, offset, offset + name.length);
  if (first === '<' && text[offset + 1] === '<') return readHeredocOpening(source, offset);
  const written = match(symbol, text, offset);
  if (written === undefined) throw unexpected(source, offset);
  return token('symbol', written, offset, offset + written.length);
}

/** The value of a number token; `undefined` if it is malformed or too large. */
export function numberOf(written: string): number | undefined {
  const value = wellFormedNumber.test(written) ? Number(written) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

export function readName(text: string, offset: number): string {
  const start = String.fromCodePoint(text.codePointAt(offset) ?? 0);
  if (!nameStart.test(start)) return '';
  let end = offset + start.length;
  // Characters outside of ASCII are matched one by one: a pattern over all of them could exhaust its stack.
  for (;;) {
    end += match(asciiName, text, end)!.length;
    const point = text.codePointAt(end);
    if (point === undefined || point < 0x80) break;
    const character = String.fromCodePoint(point);
    if (!namePart.test(character)) break;
    end += character.length;
  }
  return text.slice(offset, end);
}

function skipBlank(source: Source, from: number): number {
  const { text } = source;
  let at = from;
  for (;;) {
    at += match(space, text, at)!.length;
    const two = text.slice(at, at + 2);
    if (two[0] === '#' || two === '//') {
      const newline = text.indexOf('\n', at);
      at = newline < 0 ? text.length : newline;
    } else if (two === '/*') {
      const close = text.indexOf('*/', at + 2);
      if (close < 0) throw source.error('This comment is not closed by "*/"', at);
      at = close + 2;
    } else {
      return at;
    }
  }
}

function readHeredocOpening(source: Source, offset: number): Token {
  const { text } = source;
  const opening = match(heredoc, text, offset)!;
  const word = readName(text, offset + opening.length);
  const end = offset + opening.length + word.length;
  const newline = text.startsWith('\r\n', end) ? 2 : text[end] === '\n' ? 1 : 0;
  if (word === '' || newline === 0) {
    throw source.error('"<<" opens a heredoc: write a word and a new line after it', offset);
  }
  return {
    kind: 'heredoc',
    text: word,
    offset,
    end: end + newline,
    indented: opening === '<<-',
  };
}

const hints: Readonly<Record<string, string>> = {
  "'": 'use double quotes',
  '`': 'use double quotes, or a heredoc for more than one line',
  ';': 'write a new line',
  '&': 'write "&&"',
  '|': 'write "||"',
  '~': 'it may only stand next to the brace of "${" or "%{"',
  $: 'interpolation belongs in a string',
  '\r': 'a line ends with a line feed',
};

function unexpected(source: Source, offset: number) {
  const character = String.fromCodePoint(source.text.codePointAt(offset)!);
  const hint = hints[character];
  const shown = JSON.stringify(character.toWellFormed());
  return source.error(`Unexpected ${shown}${hint === undefined ? '' : `; ${hint}`}`, offset);
}

function match(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}

const token = (kind: Token['kind'], text: string, offset: number, end: number): Token => ({
  kind,
  text,
  offset,
  end,
  indented: false,
});
