import { plainText } from '../functions/number-text.ts';
import { Source } from './source.ts';
import type { HclEntry, HclExpression, HclTemplate } from './syntax.ts';

export type HclValue =
  | string
  | number
  | boolean
  | null
  | readonly HclValue[]
  | { readonly [key: string]: HclValue };

/**
 * The value of a constant expression: literals, tuples, objects, templates whose interpolations are
 * constant, and signs. Objects have no prototype.
 * @param text the text of the expression, for the excerpt of an error
 * @throws HclError at the first part that is not constant
 */
export function evaluateConstant(expression: HclExpression, text: string | Source): HclValue {
  return constantOf(expression, typeof text === 'string' ? new Source(text) : text);
}

function constantOf(expression: HclExpression, source: Source): HclValue {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'parentheses':
      return constantOf(expression.inner, source);
    case 'tuple':
      return expression.items.map((item) => constantOf(item, source));
    case 'object':
      return objectOf(expression.entries, source);
    case 'template':
      return templateText(expression, source);
    case 'unary': {
      const operand = constantOf(expression.operand, source);
      if (expression.operator === '-' && typeof operand === 'number') return -operand || 0;
      if (expression.operator === '!' && typeof operand === 'boolean') return !operand;
      const needed = expression.operator === '-' ? 'a number' : 'true or false';
      throw refused(source, expression, `"${expression.operator}" needs ${needed}`);
    }
    default:
      throw refused(
        source,
        expression,
        `Only fixed values may stand here, not ${describe(expression)}`,
      );
  }
}

function objectOf(entries: readonly HclEntry[], source: Source): HclValue {
  const result: Record<string, HclValue> = Object.create(null);
  for (const { key, value } of entries) {
    result[textOf(constantOf(key, source), key, source)] = constantOf(value, source);
  }
  return result;
}

function templateText({ parts }: HclTemplate, source: Source): HclValue {
  const only = parts.length === 1 ? parts[0]! : undefined;
  if (only?.kind === 'interpolation') return constantOf(only.expression, source);
  let text = '';
  for (const part of parts) {
    if (part.kind === 'text') {
      text += part.text;
    } else if (part.kind === 'interpolation') {
      text += textOf(constantOf(part.expression, source), part.expression, source);
    } else {
      throw refused(source, part, 'Only fixed values may stand here, not a directive');
    }
  }
  return text;
}

function textOf(value: HclValue, node: HclExpression, source: Source): string {
  if (typeof value === 'number') return plainText(value);
  if (value !== null && typeof value !== 'object') return String(value);
  throw refused(source, node, 'This value has no form as text');
}

const refused = (source: Source, { range }: Pick<HclExpression, 'range'>, sentence: string) =>
  source.error(sentence, range.start.offset);

/** The kind of an expression, for messages. */
export function describe(expression: HclExpression): string {
  switch (expression.kind) {
    case 'literal':
      return expression.value === null ? 'null' : `a ${literalNames[typeof expression.value]}`;
    case 'template':
      return 'a template';
    case 'variable':
      return `a reference to "${expression.name}"`;
    case 'call':
      return `a call of "${expression.name}"`;
    case 'tuple':
      return 'a list';
    case 'object':
      return 'an object';
    case 'for':
      return 'a "for" expression';
    case 'conditional':
      return 'a condition';
    case 'unary':
    case 'binary':
      return `the operation "${expression.operator}"`;
    case 'parentheses':
      return describe(expression.inner);
    default:
      return 'a reference';
  }
}

const literalNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  boolean: 'boolean',
};
