import { trimEnd, trimStart } from '../functions/white-space.ts';
import type { Token } from './lexer.ts';
import type { Source } from './source.ts';

/** A run of text in a template. */
export interface LiteralRun {
  readonly text: string;
  readonly end: number;
  /** A line of a heredoc is a run, since trim markers and indentation work by line. */
  readonly followedBy: 'sequence' | 'line' | 'close';
  /** Offset after the closing quote or word, if `followedBy` is `close`. */
  readonly closeEnd: number;
}

/** The opening of a template that the end of the text closes: a heredoc without a word. */
export const wholeText: Token = { kind: 'heredoc', text: '', offset: 0, end: 0, indented: false };

const plainQuoted = /[^"\\$%\r\n]*/y;
const plainHeredoc = /[^$%\r\n]*/y;
const introduction = /(\$+|%+)(\{?)/y;

export function readLiteral(
  source: Source,
  opened: Token,
  offset: number,
  lineStart: boolean,
): LiteralRun {
  return opened.kind === 'quote'
    ? readQuoted(source, opened, offset)
    : readHeredocLine(source, opened, offset, lineStart);
}

function readQuoted(source: Source, opened: Token, offset: number): LiteralRun {
  const { text } = source;
  let value = '';
  let at = offset;
  for (;;) {
    const plain = match(plainQuoted, text, at)![0];
    value += plain;
    at += plain.length;
    const character = text[at];
    if (character === '"') return { text: value, end: at, followedBy: 'close', closeEnd: at + 1 };
    if (character === '\\') {
      const escaped = readEscape(source, opened, at);
      value += escaped.text;
      at = escaped.end;
    } else if (character === '$' || character === '%') {
      const run = readIntroduction(text, at);
      value += run.text;
      at = run.end;
      if (run.isSequence) return { text: value, end: at, followedBy: 'sequence', closeEnd: at };
    } else if (character === undefined) {
      throw source.error('This string is not closed', opened.offset);
    } else {
      const hint = 'write "\\n", or use a heredoc';
      throw source.error(`The string is not closed on its line; ${hint}`, opened.offset);
    }
  }
}

function readHeredocLine(
  source: Source,
  opened: Token,
  offset: number,
  lineStart: boolean,
): LiteralRun {
  const { text } = source;
  const isWhole = opened.text === '';
  if (lineStart && !isWhole) {
    const newline = text.indexOf('\n', offset);
    // Without a line end after it, the closing word does not close the heredoc.
    if (newline < 0) throw unclosed(source, opened);
    const closeEnd = text[newline - 1] === '\r' ? newline - 1 : newline;
    const line = text.slice(offset, closeEnd);
    if (trimEnd(trimStart(line)) === opened.text && !line.includes('\r')) {
      return { text: '', end: offset, followedBy: 'close', closeEnd };
    }
  }
  let value = '';
  let at = offset;
  for (;;) {
    const plain = match(plainHeredoc, text, at)![0];
    value += plain;
    at += plain.length;
    const lineEnd = text[at] === '\n' ? '\n' : text.startsWith('\r\n', at) ? '\r\n' : '';
    if (lineEnd !== '') {
      return { text: value + lineEnd, end: at + lineEnd.length, followedBy: 'line', closeEnd: at };
    }
    if (text[at] === undefined) {
      if (!isWhole) throw unclosed(source, opened);
      return { text: value, end: at, followedBy: 'close', closeEnd: at };
    }
    if (text[at] === '\r') throw source.error('A line ends with a line feed', at);
    const run = readIntroduction(text, at);
    value += run.text;
    at = run.end;
    if (run.isSequence) return { text: value, end: at, followedBy: 'sequence', closeEnd: at };
  }
}

const unclosed = (source: Source, opened: Token) =>
  source.error(`This heredoc is not closed by a line with only ${opened.text}`, opened.offset);

/** A single `$` or `%` before a brace begins a sequence. Several of them are text, with one of them less. */
function readIntroduction(text: string, offset: number) {
  const [whole, signs, brace] = match(introduction, text, offset)! as unknown as [
    string,
    string,
    string,
  ];
  if (brace === '') return { text: signs, end: offset + whole.length, isSequence: false };
  if (signs.length === 1) return { text: '', end: offset, isSequence: true };
  return { text: whole.slice(1), end: offset + whole.length, isSequence: false };
}

const simpleEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
};
const codeEscape = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))/y;

function readEscape(source: Source, opened: Token, offset: number) {
  const { text } = source;
  if (offset + 1 >= text.length) throw source.error('This string is not closed', opened.offset);
  const simple = simpleEscapes[text[offset + 1]!];
  if (simple !== undefined) return { text: simple, end: offset + 2 };
  const code = match(codeEscape, text, offset);
  const point = code ? Number.parseInt(code[1] ?? code[2]!, 16) : Number.NaN;
  const isCharacter = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
  if (code && isCharacter) {
    return { text: String.fromCodePoint(point), end: offset + code[0].length };
  }
  const known = '\\n, \\r, \\t, \\", \\\\, \\u and four digits, \\U and eight digits';
  throw source.error(`Unknown escape in a string; known are ${known}`, offset);
}

function match(pattern: RegExp, text: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset;
  return pattern.exec(text);
}
