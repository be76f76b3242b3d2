import { FilterError } from './errors.ts';
import { type Token, tokenize } from './lexer.ts';
import type { FilterNode, Literal, Selector, ValueOperator } from './syntax.ts';

export interface ParserLimits {
  /** Length of the expression in characters. */
  readonly expressionLength: number;
  /** Depth of parentheses, `not`, `any` and `all`. */
  readonly depth: number;
  /** Depth of `any` and `all`: each level multiplies the work for a record. */
  readonly collectionDepth: number;
  /** Number of parts of a selector. */
  readonly pathLength: number;
}

/** Throws {@link FilterError}. The grammar is in `filter.ts`. */
export function parseFilter(expression: string, limits: ParserLimits): FilterNode {
  if (expression.length > limits.expressionLength) {
    const sentence = `The filter is longer than ${limits.expressionLength} characters`;
    throw new FilterError(sentence, expression, limits.expressionLength);
  }
  return new Parser(expression, limits).whole();
}

/** Words that join or negate expressions. As text they need quotes. */
const reserved: ReadonlySet<string> = new Set(['and', 'or', 'not']);
const operatorWords: ReadonlySet<string> = new Set(['in', 'not', 'is', 'contains', 'matches']);

/** Recursive descent with a method for each level of precedence. It never goes back over a token. */
class Parser {
  private readonly tokens: readonly Token[];
  private position = 0;
  private depth = 0;
  private collectionDepth = 0;
  private readonly expression: string;
  private readonly limits: ParserLimits;

  constructor(expression: string, limits: ParserLimits) {
    this.expression = expression;
    this.limits = limits;
    this.tokens = tokenize(expression);
  }

  whole(): FilterNode {
    const node = this.or();
    const next = this.peek();
    if (next.kind === 'end') return node;
    if (isSymbol(next, ')') || isSymbol(next, '}')) {
      throw this.error(`This "${next.text}" closes nothing`, next);
    }
    throw this.joinExpected('"and", "or" or the end of the filter', next);
  }

  private or(): FilterNode {
    return this.chain('or', () => this.and());
  }

  private and(): FilterNode {
    return this.chain('and', () => this.not());
  }

  private chain(kind: 'or' | 'and', term: () => FilterNode): FilterNode {
    const terms = [term()];
    while (isWord(this.peek(), kind)) {
      this.wordOperator();
      terms.push(term());
    }
    return terms.length === 1 ? terms[0]! : { kind, terms };
  }

  private not(): FilterNode {
    const token = this.peek();
    if (!isWord(token, 'not')) return this.term();
    this.wordOperator();
    return this.nested(token, () => ({ kind: 'not', term: this.not() }));
  }

  private term(): FilterNode {
    const token = this.peek();
    if (isSymbol(token, '(')) return this.enclosed('(', ')', () => this.or());
    if (isWord(token, 'any') || isWord(token, 'all')) {
      const next = this.peek(1);
      // `any contains x` and `any in x` are matches. Otherwise a collection follows.
      const isName = next.kind === 'word' && !operatorWords.has(next.text);
      if (isName || next.kind === 'string') return this.collection(token);
    }
    return this.match();
  }

  private enclosed(open: string, close: string, inner: () => FilterNode): FilterNode {
    const opened = this.next();
    const node = this.nested(opened, inner);
    const token = this.peek();
    if (isSymbol(token, close)) {
      this.next();
      return node;
    }
    if (token.kind === 'end') throw this.error(`This "${open}" is not closed`, opened);
    throw this.joinExpected(`"and", "or" or "${close}"`, token);
  }

  private collection(keyword: Token): FilterNode {
    this.wordOperator();
    if (++this.collectionDepth > this.limits.collectionDepth) {
      const most = this.limits.collectionDepth;
      throw this.error(`"any" and "all" may be nested ${most} deep at most`, keyword);
    }
    const selector = this.selector(this.next());
    if (!isWord(this.peek(), 'as')) throw this.expected('"as" and a name', this.peek());
    this.wordOperator();
    const names = [this.bindingName()];
    if (isSymbol(this.peek(), ',')) {
      this.next();
      const second = this.peek();
      names.push(this.bindingName());
      if (names[0] === names[1] && names[0] !== '_') {
        throw this.error(`The name "${names[0]}" is given twice`, second);
      }
    }
    const open = this.peek();
    if (!isSymbol(open, '{')) throw this.expected('"{"', open);
    const body = this.enclosed('{', '}', () => this.or());
    this.collectionDepth--;
    return { kind: isWord(keyword, 'any') ? 'any' : 'all', selector, names, body };
  }

  private bindingName(): string {
    const token = this.next();
    const isName = token.kind === 'word' && token.path.length === 1 && !reserved.has(token.text);
    if (isName || isSymbol(token, '_')) return token.text;
    throw this.expected('a name for the element, or "_"', token);
  }

  private match(): FilterNode {
    const left = this.operand('a selector or a value');
    const operator = this.peek();
    if (isSymbol(operator, '==') || isSymbol(operator, '!=')) {
      this.next();
      return this.withValue(left, 'equal', operator.text === '!=', operator);
    }
    if (isWord(operator, 'is')) return this.state(left);
    const negated = isWord(operator, 'not');
    const word = negated ? this.peek(1) : operator;
    const isIn = isWord(word, 'in');
    if (!isIn && !isWord(word, 'contains') && !isWord(word, 'matches')) {
      throw this.expected('an operator: ==, !=, [not] in, [not] contains, [not] matches, is', word);
    }
    if (negated) this.wordOperator();
    this.wordOperator();
    if (!isIn) return this.withValue(left, word.text as ValueOperator, negated, word);
    const value = this.value(left);
    const selector = this.selector(this.operand('a selector after "in"'));
    return { kind: 'match', operator: 'in', negated, selector, value };
  }

  private withValue(
    left: Token,
    operator: ValueOperator,
    negated: boolean,
    written: Token,
  ): FilterNode {
    const selector = this.selector(left);
    const value = this.value(this.operand(`a value after "${written.text}"`));
    return { kind: 'match', operator, negated, selector, value };
  }

  /** The rest of a comparison with `is`. */
  private state(left: Token): FilterNode {
    const selector = this.selector(left);
    this.wordOperator();
    const negated = isWord(this.peek(), 'not');
    if (negated) this.wordOperator();
    const last = this.next();
    const kind = (['empty', 'nil'] as const).find((word) => isWord(last, word));
    if (kind === undefined) throw this.expected('"[not] empty" or "[not] nil" after "is"', last);
    return { kind, negated, selector };
  }

  private operand(what: string): Token {
    const token = this.next();
    if (token.kind === 'word' && reserved.has(token.text)) {
      const hint = `put quotes around "${token.text}" to mean the word`;
      throw this.error(`Expected ${what}, found "${token.text}"; ${hint}`, token);
    }
    if (token.kind === 'symbol' || token.kind === 'end') throw this.expected(what, token);
    return token;
  }

  private selector(token: Token): Selector {
    const selector = this.pathOf(token);
    if (selector.path.length <= this.limits.pathLength) return selector;
    throw this.error(`The selector has more than ${this.limits.pathLength} parts`, token);
  }

  private pathOf(token: Token): Selector {
    if (token.kind === 'word') return { path: token.path, offsets: token.offsets };
    if (token.kind === 'string' && token.text.startsWith('/')) {
      const path = token.text.slice(1).split('/');
      return {
        path: path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
        offsets: path.map(() => token.offset),
      };
    }
    const hint = 'a selector is a plain name, or a JSON pointer like "/Meta/owner"';
    throw this.error(`Expected a selector, found ${describe(token)}; ${hint}`, token);
  }

  private value(token: Token): Literal {
    if (token.kind === 'word' && token.text.includes('[')) {
      throw this.error('Put quotes around a value that has brackets', token);
    }
    return { text: token.text, offset: token.offset };
  }

  /** Takes an operator that is a word, which needs spaces around it. */
  private wordOperator(): void {
    const token = this.next();
    const before = this.expression[token.offset - 1];
    const after = this.expression[token.end];
    const free = (character: string | undefined): boolean =>
      character === undefined || /\s/.test(character);
    // An opening bracket may touch the word, since it is no operand.
    if (!free(before) && before !== '(' && before !== '{') {
      throw this.error(`A space is needed before "${token.text}"`, token);
    }
    if (!free(after)) throw this.error(`A space is needed after "${token.text}"`, token);
  }

  private nested(token: Token, inner: () => FilterNode): FilterNode {
    if (++this.depth > this.limits.depth) {
      throw this.error(`The filter is nested more than ${this.limits.depth} deep`, token);
    }
    const node = inner();
    this.depth--;
    return node;
  }

  private peek(ahead = 0): Token {
    return this.tokens[Math.min(this.position + ahead, this.tokens.length - 1)]!;
  }

  private next(): Token {
    const token = this.peek();
    this.position++;
    return token;
  }

  /** A word that touches the term before it is usually the rest of a value such as `dc-1`. */
  private joinExpected(what: string, found: Token): FilterError {
    const touches = this.tokens[this.position - 1]?.end === found.offset;
    if (!touches) return this.expected(what, found);
    const hint = 'put quotes around a text value';
    return this.error(`Expected ${what}, found ${describe(found)}; ${hint}`, found);
  }

  private expected(what: string, found: Token): FilterError {
    return this.error(`Expected ${what}, found ${describe(found)}`, found);
  }

  private error(sentence: string, token: Token): FilterError {
    return new FilterError(sentence, this.expression, token.offset);
  }
}

const isWord = (token: Token, text: string): boolean =>
  token.kind === 'word' && token.text === text;

const isSymbol = (token: Token, text: string): boolean =>
  token.kind === 'symbol' && token.text === text;

function describe(token: Token): string {
  if (token.kind === 'end') return 'the end of the filter';
  const text = token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text;
  return token.kind === 'string' ? `the string ${JSON.stringify(text)}` : `"${text}"`;
}
