import { FunctionFault } from '../../functions/fault.ts';
import type { RunContext } from '../run-context.ts';
import {
  describeValue,
  isList,
  isMap,
  isNumber,
  type TemplateMap,
  type TemplateValue,
} from '../value.ts';

/** A function of templates. It keeps no state between calls. */
export interface TemplateFunction {
  /** The least and the greatest number of arguments. */
  readonly least: number;
  readonly most: number;
  /** Names of the arguments for the reference: `separator, [text], values...`. */
  readonly parameters: string;
  call(values: readonly TemplateValue[], context: RunContext): TemplateValue;
}

/** The functions of a file, by name. */
export type Functions = Readonly<Record<string, TemplateFunction>>;

export interface Parameter<T> {
  readonly name: string;
  readonly isOptional?: boolean;
  readonly isRest?: boolean;
  /** Throws a clause: `has to be text`. */
  read(value: TemplateValue): T;
}

class Unfit extends Error {}

const unfit = (needed: string, value: TemplateValue): Unfit =>
  new Unfit(`has to be ${needed}, and is ${describeValue(value)}`);

export const text = (name: string): Parameter<string> => ({
  name,
  read: (value) => {
    if (typeof value === 'string') return value;
    throw unfit('text', value);
  },
});

export const whole = (name: string): Parameter<bigint> => ({
  name,
  read: (value) => {
    if (typeof value === 'bigint') return value;
    throw unfit('a whole number', value);
  },
});

export const number = (name: string): Parameter<bigint | number> => ({
  name,
  read: (value) => {
    if (isNumber(value)) return value;
    throw unfit('a number', value);
  },
});

export const any = (name: string): Parameter<TemplateValue> => ({ name, read: (value) => value });

export const list = (name: string): Parameter<readonly TemplateValue[]> => ({
  name,
  read: (value) => {
    if (isList(value)) return value;
    throw unfit('a list', value);
  },
});

export const map = (name: string): Parameter<TemplateMap> => ({
  name,
  read: (value) => {
    if (isMap(value)) return value;
    throw unfit('a map', value);
  },
});

/** A parameter that may be omitted. Only the last parameters may be optional. */
export const optional = <T>(of: Parameter<T>): Parameter<T | undefined> => ({
  ...of,
  isOptional: true,
});

/** Any number of arguments, as a list. Only the last parameter. */
export const rest = <T>(of: Parameter<T>): Parameter<readonly T[]> =>
  ({ ...of, isRest: true }) as unknown as Parameter<readonly T[]>;

type Read<P extends readonly Parameter<unknown>[]> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never;
};

export function define<const P extends readonly Parameter<never>[] | readonly Parameter<unknown>[]>(
  parameters: P,
  body: (values: Read<P>, context: RunContext) => TemplateValue,
): TemplateFunction {
  const all = parameters as readonly Parameter<unknown>[];
  const last = all.at(-1);
  const hasRest = last?.isRest ?? false;
  const fixed = hasRest ? all.slice(0, -1) : all;
  const readOne = (of: Parameter<unknown>, value: TemplateValue, index: number): unknown => {
    try {
      return of.read(value);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      throw new FunctionFault(`${of.name} ${error.message}`, index);
    }
  };
  return {
    least: fixed.filter(({ isOptional }) => isOptional !== true).length,
    most: hasRest ? Number.POSITIVE_INFINITY : fixed.length,
    parameters: all.map(shown).join(', '),
    call: (values, context) => {
      const read = fixed.map((of, index) =>
        index < values.length ? readOne(of, values[index]!, index) : undefined,
      );
      const more = values
        .slice(fixed.length)
        .map((value, index) => readOne(last!, value, fixed.length + index));
      return body((hasRest ? [...read, more] : read) as unknown as Read<P>, context);
    },
  };
}

function shown({ name, isOptional, isRest }: Parameter<unknown>): string {
  if (isRest) return `${name}...`;
  return isOptional ? `[${name}]` : name;
}
