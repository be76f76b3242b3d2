import { boolOf, textOf } from '../convert.ts';
import type { HclExpression, HclFor } from '../syntax.ts';
import {
  describeValue,
  isObject,
  itemsOf,
  keysOf,
  objectOf,
  type Value,
  ValueSet,
} from '../value.ts';
import type { Context } from './context.ts';
import { operandOf } from './operators.ts';

export function forExpression(node: HclFor, context: Context): Value {
  const rounds = loopOver(node, context);
  const { condition } = node;
  const isTaken = (round: Context): boolean =>
    condition === undefined ||
    operandOf(
      round.value(condition),
      boolOf,
      { name: 'The condition after "if"', node: condition },
      round,
    );
  if (node.key === undefined) {
    const items: Value[] = [];
    for (const round of rounds) if (isTaken(round)) items.push(round.value(node.value));
    return context.budget.made(items);
  }
  const members = new Map<string, Value[]>();
  for (const round of rounds) {
    if (!isTaken(round)) continue;
    const key = operandOf(
      round.value(node.key),
      textOf,
      { name: 'The key', node: node.key },
      round,
    );
    const values = members.get(key);
    if (values === undefined) members.set(key, [round.value(node.value)]);
    else if (node.grouped) values.push(round.value(node.value));
    else throw repeated(key, node.key, context);
  }
  const { budget } = context;
  return budget.made(
    objectOf(
      [...members].map(([key, values]) => [key, node.grouped ? budget.made(values) : values[0]!]),
    ),
  );
}

function repeated(key: string, node: HclExpression, context: Context) {
  const quoted = JSON.stringify(key.slice(0, 64).toWellFormed());
  const hint = 'write "..." behind the value to gather the values of a key in a list';
  return context.fault(`Two elements have the key ${quoted}; ${hint}`, node);
}

/** The parts that `for` expressions and `for` directives have in common. */
interface Loop {
  readonly keyName: string | undefined;
  readonly valueName: string;
  readonly collection: HclExpression;
}

/** A context for each element, with the names of the `for`. */
export function* loopOver(
  { keyName, valueName, collection }: Loop,
  context: Context,
): Generator<Context> {
  for (const [key, value] of entriesOf(context.value(collection), collection, context)) {
    const round = keyName === undefined ? context : context.bind(keyName, key);
    yield round.bind(valueName, value);
  }
}

function* entriesOf(
  value: Value,
  node: HclExpression,
  context: Context,
): Generator<readonly [key: Value, value: Value]> {
  const items = itemsOf(value);
  if (items !== undefined) {
    const isSet = value instanceof ValueSet;
    for (let index = 0; index < items.length; index++) {
      const item = items[index]!;
      yield [isSet ? item : index, item];
    }
  } else if (isObject(value)) {
    for (const key of keysOf(value)) yield [key, value[key]!];
  } else {
    const sentence = `A "for" goes through a list, set or object, and this is ${describeValue(value)}`;
    throw context.fault(sentence, node);
  }
}
