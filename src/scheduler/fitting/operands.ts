/** The operands of constraints and affinities. Source: docs/behaviour/scheduling.md#comparisons. */
import { compilePattern, PatternError } from '../../language/filter/regex/pattern.ts';
import type { Constraint } from '../../model/constraint/constraint.ts';
import { compileVersionConstraints } from '../../model/constraint/versions.ts';
import type { Node } from '../../model/node/node.ts';
import { compileTarget } from './target.ts';

type Value = string | undefined;
type Comparison = (left: Value, right: Value) => boolean;

/** Compiles each distinct right side once. */
function perRight(compile: (right: string) => (left: string) => boolean): Comparison {
  const compiled = new Map<string, (left: string) => boolean>();
  return (left, right) => {
    if (left === undefined || right === undefined) return false;
    let test = compiled.get(right);
    if (test === undefined) {
      test = compile(right);
      compiled.set(right, test);
    }
    return test(left);
  };
}

const never = () => false;

const items = (list: string): readonly string[] => list.split(',').map((item) => item.trim());

const containsAll = (right: string) => {
  const wanted = items(right);
  return (left: string) => {
    const present = new Set(items(left));
    return wanted.every((item) => present.has(item));
  };
};

const containsAny = (right: string) => {
  const wanted = new Set(items(right));
  return (left: string) => items(left).some((item) => wanted.has(item));
};

function matches(pattern: string): (text: string) => boolean {
  try {
    return compilePattern(pattern);
  } catch (error) {
    // A pattern from a node's attribute was not validated; an invalid pattern matches nothing.
    if (error instanceof PatternError) return never;
    throw error;
  }
}

const wholeNumber = /^[+-]?\d+$/;
const decimalNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Compares both sides as whole numbers if both are, else as decimals, else as text. */
function order(left: string, right: string): number {
  if (wholeNumber.test(left) && wholeNumber.test(right)) {
    const difference = BigInt(unsigned(left)) - BigInt(unsigned(right));
    return difference === 0n ? 0 : difference < 0n ? -1 : 1;
  }
  if (decimalNumber.test(left) && decimalNumber.test(right)) return Number(left) - Number(right);
  return left === right ? 0 : left < right ? -1 : 1;
}

const unsigned = (digits: string): string => (digits.startsWith('+') ? digits.slice(1) : digits);

const ordered =
  (accepts: (order: number) => boolean): Comparison =>
  (left, right) =>
    left !== undefined && right !== undefined && accepts(order(left, right));

const equal: Comparison = (left, right) => left !== undefined && left === right;
const different: Comparison = (left, right) => left !== right;

/** Makes a comparison for an operand. Each constraint needs its own, because comparisons cache. */
const comparisons: Readonly<Record<string, () => Comparison>> = {
  '=': () => equal,
  '==': () => equal,
  is: () => equal,
  '!=': () => different,
  not: () => different,
  '<': () => ordered((value) => value < 0),
  '<=': () => ordered((value) => value <= 0),
  '>': () => ordered((value) => value > 0),
  '>=': () => ordered((value) => value >= 0),
  regexp: () => perRight(matches),
  version: () => perRight((right) => compileVersionConstraints(right, 'version') ?? never),
  semver: () => perRight((right) => compileVersionConstraints(right, 'semver') ?? never),
  set_contains: () => perRight(containsAll),
  set_contains_all: () => perRight(containsAll),
  set_contains_any: () => perRight(containsAny),
  is_set: () => (left) => left !== undefined,
  is_not_set: () => (left) => left === undefined,
};

/** Compares two texts, each possibly missing. An unknown operand is never satisfied. */
export const textComparison = (operand: string): Comparison =>
  Object.hasOwn(comparisons, operand) ? comparisons[operand]!() : never;

/** Whether a node satisfies a constraint or an affinity. An unknown operand is never satisfied. */
export function compileOperand(
  rule: Pick<Constraint, 'LTarget' | 'RTarget' | 'Operand'>,
): (node: Node) => boolean {
  if (!Object.hasOwn(comparisons, rule.Operand)) return never;
  const compare = comparisons[rule.Operand]!();
  const left = compileTarget(rule.LTarget);
  const right = compileTarget(rule.RTarget);
  return (node) => compare(left(node), right(node));
}
