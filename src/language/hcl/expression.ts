import { parseCollection } from './collection.ts';
import { numberOf, type Token } from './lexer.ts';
import type { Reader } from './reader.ts';
import type { HclBinaryOperator, HclCall, HclExpression } from './syntax.ts';
import { readTemplate } from './template.ts';
import { parsePostfix } from './traversal.ts';

/** From the loosest to the tightest; all are left-associative. */
const levels: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/', '%'],
];

/** Recursive descent over an expression. It never goes back over a token. */
export function parseExpression(reader: Reader): HclExpression {
  return reader.nested(reader.peek().offset, () => conditional(reader));
}

function conditional(reader: Reader): HclExpression {
  const start = reader.peek().offset;
  const condition = binary(reader, 0);
  if (!reader.take('?')) return condition;
  const whenTrue = parseExpression(reader);
  reader.expect(':', '":" and what holds otherwise');
  const whenFalse = parseExpression(reader);
  return { kind: 'conditional', condition, whenTrue, whenFalse, range: reader.range(start) };
}

function binary(reader: Reader, level: number): HclExpression {
  const operators = levels[level];
  if (operators === undefined) return unary(reader);
  const start = reader.peek().offset;
  let left = binary(reader, level + 1);
  for (;;) {
    const token = reader.peek();
    if (token.kind !== 'symbol' || !operators.includes(token.text)) return left;
    reader.next();
    const right = binary(reader, level + 1);
    const operator = token.text as HclBinaryOperator;
    left = { kind: 'binary', operator, left, right, range: reader.range(start) };
  }
}

function unary(reader: Reader): HclExpression {
  const { kind, text, offset } = reader.peek();
  if (kind !== 'symbol' || (text !== '-' && text !== '!')) {
    return parsePostfix(reader, term(reader), parseExpression);
  }
  reader.next();
  const operand = reader.nested(offset, () => unary(reader));
  return { kind: 'unary', operator: text, operand, range: reader.range(offset) };
}

function term(reader: Reader): HclExpression {
  const token = reader.peek();
  switch (token.kind) {
    case 'number':
      return numberTerm(reader);
    case 'name':
      return nameTerm(reader);
    case 'quote':
    case 'heredoc':
      return readTemplate(reader, parseExpression);
    case 'symbol':
      if (token.text === '(') return parentheses(reader);
      if (token.text === '[' || token.text === '{') return parseCollection(reader, parseExpression);
  }
  throw reader.expected('a value');
}

function numberTerm(reader: Reader): HclExpression {
  const { text, offset } = reader.next();
  const value = numberOf(text);
  if (value === undefined) {
    throw reader.error(`"${text.slice(0, 40)}" is not a number that can be kept`, offset);
  }
  return { kind: 'literal', value, range: reader.range(offset) };
}

const keywords: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function nameTerm(reader: Reader): HclExpression {
  const token = reader.next();
  if (reader.at('(') || reader.at('::')) return call(reader, token);
  const range = reader.range(token.offset, token.end);
  const value = keywords.get(token.text);
  if (value !== undefined) return { kind: 'literal', value, range };
  return { kind: 'variable', name: token.text, range };
}

function call(reader: Reader, first: Token): HclCall {
  let name = first.text;
  let nameEnd = first.end;
  while (reader.take('::')) {
    const part = reader.expectName('the name of a function after "::"');
    name += `::${part.text}`;
    nameEnd = part.end;
  }
  const nameRange = reader.range(first.offset, nameEnd);
  const opened = reader.expect('(', '"(" after the name of a function');
  return reader.withNewlines(false, () => {
    const items: HclExpression[] = [];
    let expanded = false;
    while (!reader.at(')')) {
      items.push(parseExpression(reader));
      expanded = reader.take('...');
      if (expanded || !reader.take(',')) break;
    }
    reader.expectClose(')', opened, expanded ? '")" after "..."' : '"," or ")"');
    const range = reader.range(first.offset);
    return { kind: 'call', name, nameRange, arguments: items, expanded, range };
  });
}

function parentheses(reader: Reader): HclExpression {
  const opened = reader.next();
  return reader.withNewlines(false, () => {
    const inner = parseExpression(reader);
    reader.expectClose(')', opened, 'an operator or ")"');
    return { kind: 'parentheses', inner, range: reader.range(opened.offset) };
  });
}
