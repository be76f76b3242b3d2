import { FunctionFault } from '../../functions/fault.ts';
import { ConversionFault } from '../convert.ts';
import type { Parameter, ValueFunction } from '../scope.ts';
import { suggestion } from '../suggest.ts';
import type { HclCall, HclExpression } from '../syntax.ts';
import { describeValue, itemsOf, type Value } from '../value.ts';
import type { Context } from './context.ts';

export function call(node: HclCall, context: Context): Value {
  const { functions } = context.scope;
  const called = functions.get(node.name);
  if (called === undefined) {
    const hint = suggestion(node.name, [...functions.keys()]);
    const sentence = `There is no function "${node.name.slice(0, 64)}"${hint}`;
    throw context.scope.source.error(sentence, node.nameRange.start.offset);
  }
  if (called.kind === 'form') return called.form(node, context);
  const values = argumentsOf(node, context);
  checkCount(node, called, values.length, context);
  const read = readAll(node, called, values, context);
  try {
    if (!called.isCheap) for (const value of values) context.budget.read(value);
    return called.call(read, context.budget);
  } catch (error) {
    if (!(error instanceof FunctionFault)) throw error;
    const { argument } = error;
    const at = argument === undefined ? node : writtenArgument(node, argument);
    throw context.fault(`${node.name}: ${error.message}`, at);
  }
}

function argumentsOf(node: HclCall, context: Context): readonly Value[] {
  const values = node.arguments.map((argument) => context.value(argument));
  if (!node.expanded) return values;
  const last = values.pop()!;
  const more = itemsOf(last);
  if (more !== undefined) return [...values, ...more];
  const sentence = `The value before "..." has to be a list or set, and is ${describeValue(last)}`;
  throw context.fault(sentence, node.arguments.at(-1)!);
}

/** Arguments that "..." made of a list all have the place of the list. */
const writtenArgument = (node: HclCall, index: number): HclExpression | HclCall =>
  node.arguments[Math.min(index, node.arguments.length - 1)] ?? node;

function checkCount(
  node: HclCall,
  { parameters, rest }: ValueFunction,
  count: number,
  context: Context,
): void {
  const least = parameters.filter(({ isOptional }) => isOptional !== true).length;
  if (count >= least && (count <= parameters.length || rest !== undefined)) return;
  const names = parameters.map(({ name }, index) => (index < least ? name : `[${name}]`));
  if (rest !== undefined) names.push(`${rest.name}...`);
  const given = count === 1 ? '1 argument is' : `${count} arguments are`;
  throw context.fault(`Write ${node.name}(${names.join(', ')}): ${given} given`, node);
}

function readAll(
  node: HclCall,
  { parameters, rest }: ValueFunction,
  values: readonly Value[],
  context: Context,
): readonly (Value | undefined)[] {
  const count = Math.max(values.length, parameters.length);
  return Array.from({ length: count }, (_, index) => {
    const value = values[index];
    if (value === undefined) return undefined;
    const parameter = parameters[index] ?? rest!;
    return readArgument(node, { parameter, value, index }, context);
  });
}

interface GivenArgument {
  readonly parameter: Parameter;
  readonly value: Value;
  readonly index: number;
}

function readArgument(
  node: HclCall,
  { parameter, value, index }: GivenArgument,
  context: Context,
): Value | undefined {
  try {
    return parameter.read(value, context.budget);
  } catch (error) {
    if (!(error instanceof ConversionFault)) throw error;
    const sentence = `The argument "${parameter.name}" of ${node.name} ${error.message}`;
    throw context.fault(sentence, writtenArgument(node, index));
  }
}
