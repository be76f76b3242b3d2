import type { Budget } from '../budget.ts';
import { ConversionFault, numberOf, textOf } from '../convert.ts';
import type { Parameter, ValueFunction } from '../scope.ts';
import { describeValue, isObject, itemsOf, type Value, type ValueObject } from '../value.ts';

/** The functions of a file, by name. */
export type Functions<T = ValueFunction> = Readonly<Record<string, T>>;

/** The kinds of parameters. The body of a function gets the converted argument. */
export const text = (name: string): Parameter<string> => ({ name, read: (value) => textOf(value) });

export const number = (name: string): Parameter<number> => ({
  name,
  read: (value) => numberOf(value),
});

export const whole = (name: string): Parameter<number> => ({
  name,
  read: (value) => {
    const read = numberOf(value);
    if (Number.isInteger(read)) return read;
    throw new ConversionFault(`has to be a whole number, and is ${read}`);
  },
});

/** Any value, or null. */
export const any = (name: string): Parameter<Value> => ({ name, read: (value) => value });

/** The elements of a list or set. */
export const list = (name: string): Parameter<readonly Value[]> => ({
  name,
  read: (value) => {
    const items = itemsOf(value);
    if (items !== undefined) return items;
    throw new ConversionFault(`has to be a list, and is ${describeValue(value)}`);
  },
});

const listOf = <T extends Value>(
  name: string,
  read: (value: Value, path: string) => T,
): Parameter<readonly T[]> => ({
  name,
  read: (value, budget) => {
    const items = list(name).read(value, budget);
    return items.map((item, index) => read(item, `[${index}]`));
  },
});

export const texts = (name: string): Parameter<readonly string[]> => listOf(name, textOf);

export const numbers = (name: string): Parameter<readonly number[]> => listOf(name, numberOf);

export const map = (name: string): Parameter<ValueObject> => ({
  name,
  read: (value) => {
    if (isObject(value)) return value;
    throw new ConversionFault(`has to be a map or object, and is ${describeValue(value)}`);
  },
});

/** A parameter that may be omitted: its value is `undefined` then. Only the last parameters may be optional. */
export const optional = <T extends Value>(of: Parameter<T>): Parameter<T | undefined> => ({
  ...of,
  isOptional: true,
});

type Read<P extends readonly Parameter[]> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never;
};

export interface CallOptions {
  /** Whether reading an argument costs the same for any length. */
  readonly isCheap?: boolean;
}

/** A function of a fixed number of arguments, some of them optional. */
export function define<const P extends readonly Parameter[]>(
  parameters: P,
  body: (values: Read<P>, budget: Budget) => Value,
  { isCheap = false }: CallOptions = {},
): ValueFunction {
  return {
    kind: 'values',
    parameters,
    rest: undefined,
    isCheap,
    call: (values, budget) => body(values as unknown as Read<P>, budget),
  };
}

/** A function of some arguments, followed by any number of arguments of the same kind. */
export function variadic<const P extends readonly Parameter[], T extends Value>(
  parameters: P,
  rest: Parameter<T>,
  body: (values: Read<P>, more: readonly T[], budget: Budget) => Value,
  { isCheap = false }: CallOptions = {},
): ValueFunction {
  const { length } = parameters;
  return {
    kind: 'values',
    parameters,
    rest,
    isCheap,
    call: (values, budget) =>
      body(
        values.slice(0, length) as unknown as Read<P>,
        values.slice(length) as unknown as readonly T[],
        budget,
      ),
  };
}
