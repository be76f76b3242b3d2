import { FunctionFault } from '../../functions/fault.ts';
import type { Budget } from '../budget.ts';
import { ConversionFault, convert } from '../convert.ts';
import { attempt } from '../evaluation/operators.ts';
import type { CallPlace, FormFunction, ValueFunction } from '../scope.ts';
import type { HclCall } from '../syntax.ts';
import { typeConstraint } from '../type-constraint.ts';
import { anyType, boolType, type HclType, numberType, stringType } from '../types.ts';
import { commonType, typeOf } from '../unify.ts';
import { describeValue, isObject, itemsOf, type Value } from '../value.ts';
import { any, define, type Functions } from './define.ts';

export const conversionFunctions: Functions<ValueFunction | FormFunction> = {
  can: {
    kind: 'form',
    form: (call, place) => {
      const [argument] = argumentsOf(call, 1, 1, place);
      return attempt(() => place.value(argument!)) !== undefined;
    },
  },
  convert: { kind: 'form', form: convertTo },
  tobool: converter(() => boolType),
  tolist: converter((value, budget) => ({ kind: 'list', of: elementType(value, budget) })),
  tomap: converter((value, budget) => ({ kind: 'map', of: elementType(value, budget) })),
  tonumber: converter(() => numberType),
  toset: converter((value, budget) => ({ kind: 'set', of: elementType(value, budget) })),
  tostring: converter(() => stringType),
  try: { kind: 'form', form: firstThatWorks },
};

/** Null stays null in every conversion. */
function converter(typeFor: (value: Value, budget: Budget) => HclType): ValueFunction {
  return define([any('value')], ([value], budget) => {
    if (value === null) return null;
    try {
      return budget.made(convert(value, typeFor(value, budget), budget));
    } catch (error) {
      if (!(error instanceof ConversionFault)) throw error;
      throw new FunctionFault(`the argument ${error.message}`, 0);
    }
  });
}

/** A list, set or map has elements of one type. */
function elementType(value: Value, budget: Budget): HclType {
  const elements = itemsOf(value) ?? (isObject(value) ? Object.values(value) : []);
  const type = commonType(elements.map((element) => typeOf(element, budget)));
  if (type !== undefined) return type;
  const kinds = [...new Set(elements.map(describeValue))].join(', ');
  throw new FunctionFault(`the elements have no type in common: ${kinds}`, 0);
}

function argumentsOf(call: HclCall, least: number, most: number, place: CallPlace) {
  const { length } = call.arguments;
  if (call.expanded) throw place.fault(`${call.name} does not take "..."`, call);
  if (length >= least && length <= most) return call.arguments;
  const needed = least === most ? `${least}` : `at least ${least}`;
  throw place.fault(`${call.name} takes ${needed} arguments, and ${length} are given`, call);
}

/** The second argument is a type as in a variable: `convert("1", number)`. */
function convertTo(call: HclCall, place: CallPlace): Value {
  const [written, type] = argumentsOf(call, 2, 2, place);
  const value = place.value(written!);
  const wanted = typeConstraint(type!, place.scope.source, (node) => place.value(node));
  if (wanted === anyType) return value;
  try {
    return place.budget.made(convert(value, wanted, place.budget));
  } catch (error) {
    if (!(error instanceof ConversionFault)) throw error;
    throw place.fault(`The argument of convert ${error.message}`, written!);
  }
}

/** The value of the first argument that can be evaluated. */
function firstThatWorks(call: HclCall, place: CallPlace): Value {
  const candidates = argumentsOf(call, 1, Number.POSITIVE_INFINITY, place);
  for (const candidate of candidates.slice(0, -1)) {
    const found = attempt(() => place.value(candidate));
    if (found !== undefined) return found.value;
  }
  // The last argument is the fallback, so its fault says best why none can be evaluated.
  return place.value(candidates.at(-1)!);
}
