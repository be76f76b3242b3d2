import type { Source } from '../hcl/source.ts';
import { syntaxError } from './errors.ts';
import { characterIn, numberIn, quotedText } from './literals.ts';
import type { TemplateValue } from './value.ts';

export type TokenKind =
  | 'text'
  | 'open'
  | 'close'
  | 'word'
  | 'field'
  | 'variable'
  | 'literal'
  | 'dot'
  | 'mark'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The token as written; a `text` without trimmed space, a `field` without its dot. */
  readonly text: string;
  /** The value of a `literal`. */
  readonly value?: TemplateValue;
  readonly offset: number;
  /** Whether there is space before it. */
  readonly spaced: boolean;
}

export interface Delimiters {
  readonly left: string;
  readonly right: string;
}

const isSpace = (character: string | undefined): boolean =>
  character === ' ' || character === '\t' || character === '\n' || character === '\r';

/**
 * The text between actions, and the parts of actions, without comments and without the space that trim
 * markers cut.
 * @throws TemplateError
 */
export function tokenize(source: Source, delimiters: Delimiters): readonly Token[] {
  const { text } = source;
  const { left } = delimiters;
  const tokens: Token[] = [];
  let cutsStart = false;
  for (let at = 0; ; ) {
    const open = text.indexOf(left, at);
    const inside = open + left.length;
    const cutsEnd = open >= 0 && text[inside] === '-' && isSpace(text[inside + 1]);
    const end = open < 0 ? text.length : open;
    const [from, to] = trimmed(text, { start: at, end, cutsStart, cutsEnd });
    if (from < to) tokens.push(plain('text', text.slice(from, to), from));
    if (open < 0) {
      tokens.push(plain('end', '', text.length));
      return tokens;
    }
    const start = inside + (cutsEnd ? 2 : 0);
    if (text.startsWith('/*', start)) {
      ({ at, cutsStart } = commentEnd(source, start, delimiters));
      continue;
    }
    tokens.push(plain('open', left, open));
    ({ at, cutsStart } = tokenizeAction(source, inside + (cutsEnd ? 1 : 0), delimiters, tokens));
  }
}

const plain = (kind: TokenKind, text: string, offset: number): Token => ({
  kind,
  text,
  offset,
  spaced: false,
});

interface TextRange {
  readonly start: number;
  readonly end: number;
  /** Whether the space at its start or end is cut. */
  readonly cutsStart: boolean;
  readonly cutsEnd: boolean;
}

function trimmed(
  text: string,
  { start, end, cutsStart, cutsEnd }: TextRange,
): readonly [number, number] {
  let from = start;
  let to = end;
  if (cutsStart) while (from < to && isSpace(text[from])) from++;
  if (cutsEnd) while (to > from && isSpace(text[to - 1])) to--;
  return [from, to];
}

interface ActionEnd {
  readonly at: number;
  readonly cutsStart: boolean;
}

function commentEnd(source: Source, start: number, { right }: Delimiters): ActionEnd {
  const { text } = source;
  const end = text.indexOf('*/', start + 2);
  if (end < 0) throw syntaxError(source, 'This comment has no end', start);
  const after = end + 2;
  if (text.startsWith(right, after)) return { at: after + right.length, cutsStart: false };
  if (isSpace(text[after]) && text[after + 1] === '-' && text.startsWith(right, after + 2)) {
    return { at: after + 2 + right.length, cutsStart: true };
  }
  throw syntaxError(source, `A comment has to end right before "${right}"`, after);
}

/** Adds the tokens of an action, with its `close`. */
function tokenizeAction(
  source: Source,
  start: number,
  { right }: Delimiters,
  tokens: Token[],
): ActionEnd {
  const { text } = source;
  let spaced = false;
  for (let at = start; at < text.length; ) {
    if (isSpace(text[at])) {
      const cutsStart = text[at + 1] === '-' && text.startsWith(right, at + 2);
      if (cutsStart) {
        tokens.push({ kind: 'close', text: right, offset: at + 2, spaced: true });
        return { at: at + 2 + right.length, cutsStart };
      }
      at++;
      spaced = true;
      continue;
    }
    if (text.startsWith(right, at)) {
      tokens.push({ kind: 'close', text: right, offset: at, spaced });
      return { at: at + right.length, cutsStart: false };
    }
    const { length, ...token } = tokenAt(source, at);
    tokens.push({ ...token, offset: at, spaced });
    at += length;
    spaced = false;
  }
  const open = tokens.findLast(({ kind }) => kind === 'open');
  throw syntaxError(source, `This action has no "${right}"`, open?.offset ?? start);
}

interface Piece {
  readonly kind: TokenKind;
  readonly text: string;
  readonly value?: TemplateValue;
  /** Length of the piece in the text. */
  readonly length: number;
}

const word = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const variable = /\$(?:[\p{L}_\p{Nd}]*)/uy;
const field = /\.([\p{L}_][\p{L}\p{Nd}_]*)/uy;
const marks = [':=', '=', ',', '|', '(', ')'] as const;

function tokenAt(source: Source, at: number): Piece {
  const { text } = source;
  const first = text[at]!;
  if (first === '"' || first === '`') return literal(quotedText(source, at));
  if (first === "'") return literal(characterIn(source, at));
  if (/[0-9+-]/.test(first) || (first === '.' && /[0-9]/.test(text[at + 1] ?? ''))) {
    return literal(numberIn(source, at));
  }
  const mark = marks.find((one) => text.startsWith(one, at));
  if (mark !== undefined) return { kind: 'mark', text: mark, length: mark.length };
  const named = match(field, text, at);
  if (named !== undefined) {
    return { kind: 'field', text: named.slice(1), length: named.length };
  }
  if (first === '.') return { kind: 'dot', text: '.', length: 1 };
  const name = match(variable, text, at);
  if (name !== undefined) return { kind: 'variable', text: name, length: name.length };
  const known = match(word, text, at);
  if (known !== undefined) return { kind: 'word', text: known, length: known.length };
  const character = String.fromCodePoint(text.codePointAt(at)!);
  throw syntaxError(source, `${JSON.stringify(character)} cannot stand here`, at);
}

const literal = ({ value, length }: { value: TemplateValue; length: number }): Piece => ({
  kind: 'literal',
  text: '',
  value,
  length,
});

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
