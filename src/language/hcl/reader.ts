import type { HclError } from './errors.ts';
import { readToken, type Token } from './lexer.ts';
import type { HclLimits } from './limits.ts';
import type { Range, Source } from './source.ts';

export interface HclGrammar {
  /**
   * Also accept the syntax of HCL1: several attributes and blocks on a line, with or without commas between
   * them; blocks in an object, as its values; quoted names; new lines before "{" and after "="; and names
   * that are set again, which the reader of the body judges.
   */
  readonly hcl1Blocks: boolean;
}

const hcl2: HclGrammar = { hcl1Blocks: false };

/** The tokens of a text, and the state of the parser while it reads them. */
export class Reader {
  readonly source: Source;
  readonly limits: HclLimits;
  /** Whether the text may use the syntax of HCL1. */
  readonly hcl1: boolean;
  /** Offset after the last token that was taken. */
  lastEnd = 0;
  private offset = 0;
  private ahead: Token | undefined;
  private newlinesCount = true;
  private depth = 0;
  private nodes = 0;

  constructor(source: Source, limits: HclLimits, { hcl1Blocks }: HclGrammar = hcl2) {
    this.source = source;
    this.limits = limits;
    this.hcl1 = hcl1Blocks;
    // Some editors write a byte order mark, which means nothing.
    if (source.text.startsWith('\uFEFF')) this.seek(1);
  }

  /** The next token. Newlines are skipped where they mean nothing. */
  peek(): Token {
    this.ahead ??= readToken(this.source, this.offset);
    while (!this.newlinesCount && this.ahead.kind === 'newline') {
      this.offset = this.ahead.end;
      this.ahead = readToken(this.source, this.offset);
    }
    return this.ahead;
  }

  next(): Token {
    const token = this.peek();
    this.seek(token.end);
    return token;
  }

  /** Continues at `offset`, behind a template or at the start of an item. */
  seek(offset: number): void {
    this.offset = offset;
    this.lastEnd = offset;
    this.ahead = undefined;
  }

  at(symbol: string): boolean {
    const token = this.peek();
    return token.kind === 'symbol' && token.text === symbol;
  }

  atName(name: string): boolean {
    const token = this.peek();
    return token.kind === 'name' && token.text === name;
  }

  /** Takes the symbol if it is next. */
  take(symbol: string): boolean {
    if (!this.at(symbol)) return false;
    this.next();
    return true;
  }

  expect(symbol: string, what = `"${symbol}"`): Token {
    if (!this.at(symbol)) throw this.expected(what);
    return this.next();
  }

  expectName(what: string): Token {
    if (this.peek().kind !== 'name') throw this.expected(what);
    return this.next();
  }

  /** The token `close`, or an error that says where it was opened. */
  expectClose(close: string, opened: Token, what: string): Token {
    if (this.peek().kind === 'end') {
      throw this.error(`This "${opened.text}" is not closed by "${close}"`, opened.offset);
    }
    return this.expect(close, what);
  }

  skipNewlines(): void {
    while (this.peek().kind === 'newline') this.next();
  }

  /** For HCL1: skips newlines before one of the symbols. */
  skipNewlinesBefore(...symbols: readonly string[]): void {
    if (this.peek().kind !== 'newline') return;
    const before = this.lastEnd;
    this.skipNewlines();
    if (!symbols.some((symbol) => this.at(symbol))) this.seek(before);
  }

  withNewlines<T>(count: boolean, read: () => T): T {
    const before = this.newlinesCount;
    this.newlinesCount = count;
    try {
      return read();
    } finally {
      this.newlinesCount = before;
    }
  }

  nested<T>(offset: number, read: () => T): T {
    if (++this.depth > this.limits.depthMax) throw tooDeep(this.source, this.limits, offset);
    try {
      return read();
    } finally {
      this.depth--;
    }
  }

  /** The place of a node that began at `start` and ends with the last token taken. */
  range(start: number, end = this.lastEnd): Range {
    if (++this.nodes > this.limits.nodesMax) {
      throw this.error(`The text has more than ${this.limits.nodesMax} parts`, start);
    }
    return this.source.range(start, end);
  }

  error(sentence: string, offset: number): HclError {
    return this.source.error(sentence, offset);
  }

  expected(what: string): HclError {
    const token = this.peek();
    return this.error(`Expected ${what}, found ${describeToken(token)}`, token.offset);
  }
}

export const tooDeep = (source: Source, limits: HclLimits, offset: number): HclError =>
  source.error(`The text is nested more than ${limits.depthMax} deep`, offset);

export function describeToken(token: Token): string {
  switch (token.kind) {
    case 'end':
      return 'the end of the text';
    case 'newline':
      return 'the end of the line';
    case 'quote':
      return 'a string';
    case 'heredoc':
      return `"<<${token.indented ? '-' : ''}${token.text.slice(0, 40)}"`;
    default:
      return `"${token.text.slice(0, 40).toWellFormed()}"`;
  }
}
