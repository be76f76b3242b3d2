import { boolOf, ConversionFault, convert, numberOf } from '../convert.ts';
import { type Arithmetic, calculate, inexact } from '../decimal.ts';
import { HclError, HclLimitError } from '../errors.ts';
import type { HclBinary, HclConditional, HclExpression, HclUnary } from '../syntax.ts';
import { typeText } from '../types.ts';
import { typeOf, unify } from '../unify.ts';
import { identityOf, kindOf, type Value } from '../value.ts';
import type { Context } from './context.ts';

export function unary({ operator, operand }: HclUnary, context: Context): Value {
  const value = context.value(operand);
  const what = `The value after "${operator}"`;
  if (operator === '!') return !operandOf(value, boolOf, { name: what, node: operand }, context);
  return -operandOf(value, numberOf, { name: what, node: operand }, context) || 0;
}

export function binary(node: HclBinary, context: Context): Value {
  switch (node.operator) {
    case '&&':
      return side(node, 'left', boolOf, context) && side(node, 'right', boolOf, context);
    case '||':
      return side(node, 'left', boolOf, context) || side(node, 'right', boolOf, context);
    case '==':
      return areEqual(context.value(node.left), context.value(node.right), context);
    case '!=':
      return !areEqual(context.value(node.left), context.value(node.right), context);
  }
  const left = side(node, 'left', numberOf, context);
  const right = side(node, 'right', numberOf, context);
  switch (node.operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    default:
      return arithmetic(node as Calculation, left, right, context);
  }
}

type Calculation = HclBinary & { readonly operator: Arithmetic };

function arithmetic(node: Calculation, left: number, right: number, context: Context): number {
  const { operator } = node;
  if (right === 0 && (operator === '/' || operator === '%')) {
    throw context.fault('Division by zero', node.right);
  }
  // Fractions are calculated digit by digit.
  if (!Number.isInteger(left) || !Number.isInteger(right)) context.budget.work(4);
  const result = calculate(left, operator, right);
  if (typeof result === 'number') return result;
  throw context.fault(`The result of "${operator}" ${inexact[result]}`, node);
}

function side<T>(
  node: HclBinary,
  which: 'left' | 'right',
  read: (value: Value) => T,
  context: Context,
): T {
  const what = `The ${which} side of "${node.operator}"`;
  return operandOf(context.value(node[which]), read, { name: what, node: node[which] }, context);
}

interface Operand {
  /** The subject of a fault: `The key`. */
  readonly name: string;
  readonly node: HclExpression;
}

/** Converts the value to the type that is needed. The fault tells the type of the value. */
export function operandOf<T>(
  value: Value,
  read: (value: Value) => T,
  { name, node }: Operand,
  context: Context,
): T {
  try {
    return read(value);
  } catch (error) {
    if (!(error instanceof ConversionFault)) throw error;
    throw context.fault(`${name} ${error.message}`, node);
  }
}

/** Nothing is converted: `1 == "1"` is false. */
export function areEqual(left: Value, right: Value, { budget }: Context): boolean {
  if (left === right) return true;
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') {
    return false;
  }
  if (kindOf(left) !== kindOf(right)) return false;
  budget.read(left);
  budget.read(right);
  return identityOf(left) === identityOf(right);
}

/**
 * Evaluates both branches, since the result has their common type: `true ? 1 : "a"` is `"1"`. Faults of the
 * other branch do not matter.
 */
export function conditional(node: HclConditional, context: Context): Value {
  const condition = operandOf(
    context.value(node.condition),
    boolOf,
    { name: 'The condition', node: node.condition },
    context,
  );
  const value = context.value(condition ? node.whenTrue : node.whenFalse);
  const other = attempt(() => context.value(condition ? node.whenFalse : node.whenTrue));
  if (other === undefined || isSamePrimitive(value, other.value)) return value;
  const { budget } = context;
  const own = typeOf(value, budget);
  const others = typeOf(other.value, budget);
  const type = unify(own, others);
  if (type !== undefined) return convert(value, type, budget);
  const types = [own, others].map(typeText);
  const [whenTrue, whenFalse] = condition ? types : types.reverse();
  const sentence = `Both results of a condition have one type, and these are ${whenTrue} and ${whenFalse}`;
  throw context.fault(sentence, node);
}

const isSamePrimitive = (left: Value, right: Value): boolean =>
  left === null || right === null || (typeof left === typeof right && typeof left !== 'object');

/** The value; `undefined` after a fault. Throws if a limit is met. */
export function attempt(evaluate: () => Value): { readonly value: Value } | undefined {
  try {
    return { value: evaluate() };
  } catch (error) {
    if (error instanceof HclError && !(error instanceof HclLimitError)) return undefined;
    throw error;
  }
}
