import { numberOf, textOf } from '../convert.ts';
import { suggestion } from '../suggest.ts';
import type { HclExpression, HclGetAttribute, HclIndex, HclSplat, HclVariable } from '../syntax.ts';
import {
  describeValue,
  isList,
  isObject,
  itemsOf,
  keysOf,
  memberOf,
  type Value,
  type ValueObject,
  ValueSet,
} from '../value.ts';
import type { Context } from './context.ts';
import { operandOf } from './operators.ts';

type Step = HclGetAttribute | HclIndex;

/** Evaluates a chain of `.name` and `[key]` from its root on, without recursion. */
export function traversal(node: Step, context: Context): Value {
  const steps: Step[] = [];
  let root: HclExpression = node;
  while (root.kind === 'get-attribute' || root.kind === 'index') {
    context.budget.work(1);
    steps.push(root);
    root = root.of;
  }
  const name = root.kind === 'variable' ? root.name : undefined;
  if (name !== undefined && isKnownLater(name, context)) return kept(node, name, steps, context);
  let value = context.value(root);
  for (const step of steps.reverse()) {
    value =
      step.kind === 'index' ? elementAt(value, step, context) : attributeOf(value, step, context);
  }
  return value;
}

const isKnownLater = (name: string, context: Context): boolean =>
  context.variable(name) === undefined && context.scope.isKnownLater?.(name) === true;

/** The reference itself as text, to be replaced later: see `HclScope.isKnownLater`. */
function kept(
  node: Step | HclVariable,
  name: string,
  steps: readonly Step[],
  context: Context,
): string {
  const computed = steps.find((step) => step.kind === 'index' && step.key.kind !== 'literal');
  if (computed !== undefined) {
    const sentence = `"${name}" is only known where the task runs; its key has to be fixed`;
    throw context.fault(sentence, computed.kind === 'index' ? computed.key : computed);
  }
  const { start, end } = node.range;
  return context.budget.made(`\${${context.scope.source.text.slice(start.offset, end.offset)}}`);
}

export function variable(node: HclVariable, context: Context): Value {
  const value = context.variable(node.name);
  if (value !== undefined) return value;
  if (isKnownLater(node.name, context)) return kept(node, node.name, [], context);
  const hint = suggestion(node.name, context.names());
  throw context.fault(`There is no variable "${node.name.slice(0, 64)}"${hint}`, node);
}

function attributeOf(of: Value, node: HclGetAttribute, context: Context): Value {
  const { name } = node;
  if (isObject(of)) {
    return memberOf(of, name) ?? missing(of, name, node, context);
  }
  const hint =
    itemsOf(of) === undefined ? '' : '; its elements may: write [*] before it, or an index';
  throw faultAtEnd(
    `"${name}" is an attribute of objects, and this is ${describeValue(of)}${hint}`,
    node,
    context,
  );
}

function missing(of: ValueObject, name: string, node: Step, context: Context): null {
  // A member may be null.
  if (Object.hasOwn(of, name)) return null;
  const hint = suggestion(name, keysOf(of));
  const quoted = JSON.stringify(name.slice(0, 64).toWellFormed());
  const noun = node.of.kind === 'variable' ? nouns.get(node.of.name) : undefined;
  if (noun !== undefined) throw faultAtEnd(`There is no ${noun} ${quoted}${hint}`, node, context);
  const part = node.kind === 'index' ? 'key' : 'attribute';
  throw faultAtEnd(`There is no ${part} ${quoted} in this object${hint}`, node, context);
}

/** Nouns for the members of the objects that a file declares. */
const nouns = new Map([
  ['var', 'variable'],
  ['local', 'local value'],
]);

/** A fault at the name or key, since the object before it may be long and is not at fault. */
function faultAtEnd(sentence: string, node: Step, { scope }: Context) {
  const offset =
    node.kind === 'index' ? node.key.range.start.offset : node.range.end.offset - node.name.length;
  return scope.source.error(sentence, offset);
}

function elementAt(of: Value, node: HclIndex, context: Context): Value {
  const key = context.value(node.key);
  if (isObject(of)) {
    const name = operandOf(key, textOf, { name: 'The key', node: node.key }, context);
    return memberOf(of, name) ?? missing(of, name, node, context);
  }
  if (!isList(of)) {
    const hint = of instanceof ValueSet ? '; write tolist(…) around it' : '';
    const sentence = `An index belongs to a list or object, and this is ${describeValue(of)}${hint}`;
    throw context.fault(sentence, node.key);
  }
  const index = operandOf(key, numberOf, { name: 'The index of a list', node: node.key }, context);
  if (!Number.isInteger(index) || index < 0) {
    throw context.fault(`The index of a list is a whole number from 0 on, not ${index}`, node.key);
  }
  if (index < of.length) return of[index]!;
  const elements = of.length === 1 ? '1 element' : `${of.length} elements`;
  throw context.fault(`There is no element ${index}: the list has ${elements}`, node.key);
}

/** Evaluates `item` for each element of a list or set, or for a single other value. Null has no elements. */
export function splat(node: HclSplat, context: Context): Value {
  const of = context.value(node.of);
  if (of === null) return [];
  const items = itemsOf(of) ?? [of];
  const results = items.map((item) => context.atItem(item).value(node.item));
  return context.budget.made(results);
}
