import { BudgetSpent } from './budget.ts';
import { textOf } from './convert.ts';
import { inexact, numberIn } from './decimal.ts';
import { splat, traversal, variable } from './evaluation/access.ts';
import { call } from './evaluation/call.ts';
import { Context } from './evaluation/context.ts';
import { forExpression } from './evaluation/loop.ts';
import { binary, conditional, operandOf, unary } from './evaluation/operators.ts';
import { render, template } from './evaluation/template.ts';
import type { HclScope } from './scope.ts';
import type { HclExpression, HclLiteral, HclObject, HclTemplate } from './syntax.ts';
import { objectOf, type Value } from './value.ts';

/**
 * The value of an expression. Source: HCL's native syntax specification. docs/reference/hcl.md has the
 * differences.
 *
 * 1. The scope's budget bounds work and size for any text. The parser bounds the height of the tree, and so
 *    the recursion.
 * 2. It depends only on the scope: only functions reach the world.
 * 3. Every fault has a place in the scope's source.
 *
 * @throws HclError with the first fault; an HclLimitError if a bound was met
 */
export function evaluate(expression: HclExpression, scope: HclScope): Value {
  const context = new Context(scope, evaluateNode);
  try {
    const value = context.value(expression);
    // A small value may share parts, and be large when it is written out. The result is written out.
    scope.budget.make(scope.budget.weightOf(value));
    return value;
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    throw error.at(scope.source, expression.range.start.offset);
  }
}

/**
 * A template as text, even if it is a single interpolation.
 * @throws HclError
 */
export function evaluateTemplate(template: HclLiteral | HclTemplate, scope: HclScope): string {
  const context = new Context(scope, evaluateNode);
  if (template.kind === 'literal') return String(template.value);
  return render(template.parts, context);
}

function evaluateNode(expression: HclExpression, context: Context): Value {
  try {
    context.budget.work(1);
    return valueOfNode(expression, context);
  } catch (error) {
    if (error instanceof BudgetSpent) {
      throw error.at(context.scope.source, expression.range.start.offset);
    }
    throw error;
  }
}

function valueOfNode(expression: HclExpression, context: Context): Value {
  switch (expression.kind) {
    case 'literal':
      return literal(expression, context);
    case 'template':
      return template(expression, context);
    case 'variable':
      return variable(expression, context);
    case 'get-attribute':
    case 'index':
      return traversal(expression, context);
    case 'splat':
      return splat(expression, context);
    case 'splat-item':
      return context.item!;
    case 'tuple':
      return context.budget.made(expression.items.map((item) => context.value(item)));
    case 'object':
      return object(expression, context);
    case 'for':
      return forExpression(expression, context);
    case 'call':
      return call(expression, context);
    case 'unary':
      return unary(expression, context);
    case 'binary':
      return binary(expression, context);
    case 'conditional':
      return conditional(expression, context);
    case 'parentheses':
      return context.value(expression.inner);
  }
}

function literal(node: HclLiteral, context: Context): Value {
  const { value, range } = node;
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !Number.isInteger(value)) {
    return value;
  }
  const text = context.scope.source.text.slice(range.start.offset, range.end.offset);
  const read = numberIn(text);
  if (typeof read !== 'string') return value;
  throw context.fault(`This number ${inexact[read]}`, node);
}

/** If a key is written twice, the last one counts. */
function object({ entries }: HclObject, context: Context): Value {
  context.budget.work(4 * entries.length);
  const members = entries.map(({ key, value }): readonly [string, Value] => [
    operandOf(context.value(key), textOf, { name: 'The key', node: key }, context),
    context.value(value),
  ]);
  return context.budget.made(objectOf(members));
}
