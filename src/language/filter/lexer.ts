import { namedEscapes } from '../functions/escapes.ts';
import { FilterError } from './errors.ts';

/**
 * Divides the text into tokens. A selector is a single token with its whole path, so that white space in it
 * is an error and `List.0.5` is no decimal. A keyword is a word of one part; the parser knows its meaning.
 */
export interface Token {
  readonly kind: 'word' | 'string' | 'number' | 'symbol' | 'end';
  /** The token as written, or the content of a string. */
  readonly text: string;
  readonly offset: number;
  /** Offset after the last character. */
  readonly end: number;
  /** The parts of a word and their offsets; empty for other tokens. */
  readonly path: readonly string[];
  readonly offsets: readonly number[];
}

const space = /[ \t\r\n]*/y;
const identifier = /[A-Za-z][A-Za-z0-9_/]*/y;
const digits = /[0-9]+/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?/y;
const symbol = /==|!=|[(){},_]/y;
/** A number ends before one of these. Any other character makes it malformed. */
const numberEnd = /[\s()},]|[!=]=|$/y;

export function tokenize(expression: string): readonly Token[] {
  const tokens: Token[] = [];
  let offset = skipSpace(expression, 0);
  while (offset < expression.length) {
    const token = readToken(expression, offset);
    tokens.push(token);
    offset = skipSpace(expression, token.end);
  }
  tokens.push(plain('end', '', offset, offset));
  return tokens;
}

function readToken(expression: string, offset: number): Token {
  const first = expression[offset]!;
  if (/[A-Za-z]/.test(first)) return readWord(expression, offset);
  if (first === '"' || first === '`') {
    const { text, end } = readString(expression, offset);
    return plain('string', text, offset, end);
  }
  if (/[-0-9]/.test(first)) return readNumber(expression, offset);
  const text = match(symbol, expression, offset);
  if (text === undefined) throw unexpected(expression, offset);
  return plain('symbol', text, offset, offset + text.length);
}

function readWord(expression: string, offset: number): Token {
  const name = match(identifier, expression, offset)!;
  const path = [name];
  const offsets = [offset];
  let end = offset + name.length;
  while (expression[end] === '.' || expression[end] === '[') {
    const part = expression[end] === '.' ? readName(expression, end) : readKey(expression, end);
    path.push(part.text);
    offsets.push(end + 1);
    end = part.end;
  }
  return { kind: 'word', text: expression.slice(offset, end), offset, end, path, offsets };
}

interface Part {
  readonly text: string;
  readonly end: number;
}

function readName(expression: string, dot: number): Part {
  const text = match(identifier, expression, dot + 1) ?? match(digits, expression, dot + 1);
  if (text === undefined) {
    throw new FilterError('Expected a name or a list index after "."', expression, dot + 1);
  }
  return { text, end: dot + 1 + text.length };
}

function readKey(expression: string, bracket: number): Part {
  const start = skipSpace(expression, bracket + 1);
  if (expression[start] !== '"' && expression[start] !== '`') {
    throw new FilterError('Expected a quoted key after "["', expression, start);
  }
  const { text, end } = readString(expression, start);
  const close = skipSpace(expression, end);
  if (expression[close] !== ']') {
    throw new FilterError('The "[" of the selector is not closed by "]"', expression, bracket);
  }
  return { text, end: close + 1 };
}

function readNumber(expression: string, offset: number): Token {
  const text = match(number, expression, offset);
  const end = offset + (text?.length ?? 0);
  if (text === undefined || match(numberEnd, expression, end) === undefined) {
    const written = /^[^\s(){},]*/.exec(expression.slice(offset, offset + 40))![0];
    const why = /^-?0[0-9]/.test(written)
      ? `The number ${written} has a leading zero`
      : `${JSON.stringify(written)} is not a number`;
    throw new FilterError(`${why}; put quotes around a text value`, expression, offset);
  }
  return plain('number', text, offset, end);
}

function readString(expression: string, offset: number): Part {
  if (expression[offset] === '`') {
    const end = expression.indexOf('`', offset + 1);
    if (end < 0) throw unterminated(expression, offset);
    return { text: expression.slice(offset + 1, end), end: end + 1 };
  }
  let text = '';
  let at = offset + 1;
  for (;;) {
    const character = expression[at];
    if (character === undefined) throw unterminated(expression, offset);
    if (character === '"') return { text, end: at + 1 };
    if (character === '\\') {
      const part = readEscape(expression, at);
      text += part.text;
      at = part.end;
    } else {
      text += character;
      at++;
    }
  }
}

const codeEscape = /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))/y;

function readEscape(expression: string, offset: number): Part {
  const letter = expression[offset + 1] ?? '';
  const simple = letter === '"' ? letter : namedEscapes.get(letter);
  if (simple !== undefined) return { text: simple, end: offset + 2 };
  codeEscape.lastIndex = offset;
  const code = codeEscape.exec(expression);
  const point = code ? Number.parseInt(code[1] ?? code[2] ?? code[3]!, 16) : Number.NaN;
  if (code && point <= 0x10ffff) {
    return { text: String.fromCodePoint(point), end: offset + code[0].length };
  }
  throw new FilterError(
    'Unknown escape in a quoted string; write "\\\\" for a backslash, or use back quotes',
    expression,
    offset,
  );
}

const unterminated = (expression: string, offset: number): FilterError =>
  new FilterError('The quoted string is not closed', expression, offset);

const hints: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/^&&?/, 'write "and"'],
  [/^\|\|?/, 'write "or"'],
  [/^!/, 'write "not"'],
  [/^=~?/, 'write "==", or "matches" for a pattern'],
  [/^[<>]=?/, 'there is no order comparison'],
  [/^'/, 'use double quotes or back quotes'],
  [/^[/.\-@:*+%$#~]/, 'put quotes around a text value'],
];

function unexpected(expression: string, offset: number): FilterError {
  const rest = expression.slice(offset, offset + 2);
  for (const [pattern, hint] of hints) {
    const found = pattern.exec(rest);
    if (found) return new FilterError(`Unexpected "${found[0]}"; ${hint}`, expression, offset);
  }
  const character = String.fromCodePoint(expression.codePointAt(offset)!);
  return new FilterError(`Unexpected ${JSON.stringify(character)}`, expression, offset);
}

function match(pattern: RegExp, expression: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(expression)?.[0];
}

const skipSpace = (expression: string, offset: number): number =>
  offset + match(space, expression, offset)!.length;

const plain = (kind: Token['kind'], text: string, offset: number, end: number): Token => ({
  kind,
  text,
  offset,
  end,
  path: [],
  offsets: [],
});
