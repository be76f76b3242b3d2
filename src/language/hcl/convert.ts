import { plainText } from '../functions/number-text.ts';
import type { Budget } from './budget.ts';
import { numberIn } from './decimal.ts';
import { type HclType, type MapType, type ObjectType, type TupleType, typeText } from './types.ts';
import {
  describeValue,
  isList,
  isObject,
  itemsOf,
  memberOf,
  objectOf,
  type Value,
  type ValueObject,
  ValueSet,
} from './value.ts';

/** A value cannot be converted. The message is a clause: `has to be a number, and is a list`. */
export class ConversionFault extends Error {
  override readonly name = 'ConversionFault';
  /** The place in the value, such as `[0].name`; empty for the value itself. */
  readonly path: string;

  constructor(message: string, path = '') {
    super(path === '' ? message : `${message}, at ${path}`);
    this.path = path;
  }
}

const refused = (value: Value, what: string, path: string): ConversionFault =>
  new ConversionFault(`has to be ${what}, and is ${describeValue(value)}`, path);

/** @throws ConversionFault */
export function textOf(value: Value, path = ''): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return plainText(value);
  if (typeof value === 'boolean') return String(value);
  throw refused(value, 'a string', path);
}

/** Strings are read as decimal numbers. @throws ConversionFault */
export function numberOf(value: Value, path = ''): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') throw refused(value, 'a number', path);
  const read = numberIn(value);
  if (typeof read === 'number') return read;
  throw new ConversionFault(
    read === 'inexact'
      ? `has to be a number, and ${quoted(value)} has more digits than a number holds`
      : `has to be a number, and is the string ${quoted(value)}`,
    path,
  );
}

/** @throws ConversionFault */
export function boolOf(value: Value, path = ''): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  if (typeof value !== 'string') throw refused(value, 'true or false', path);
  throw new ConversionFault(`has to be true or false, and is the string ${quoted(value)}`, path);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 40).toWellFormed());

/**
 * Converts the value to the type. Null stays null. Elements are converted. Attributes that the object type
 * does not have are left out. Missing attributes are an error unless they are optional. A value of the
 * type is returned itself.
 * @throws ConversionFault
 */
export function convert(value: Value, type: HclType, budget: Budget, path = ''): Value {
  budget.work(1);
  if (value === null || type.kind === 'any') return value;
  switch (type.kind) {
    case 'string':
      return textOf(value, path);
    case 'number':
      return numberOf(value, path);
    case 'bool':
      return boolOf(value, path);
    case 'list':
      return convertItems(elements(value, type, path), () => type.of, budget, path);
    case 'set': {
      if (value instanceof ValueSet && type.of.kind === 'any') return value;
      const items = elements(value, type, path);
      return ValueSet.of(convertItems(items, () => type.of, budget, path));
    }
    case 'tuple':
      return convertTuple(value, type, budget, path);
    case 'map':
      return convertMap(value, type, budget, path);
    case 'object':
      return convertObject(value, type, budget, path);
  }
}

function elements(value: Value, type: HclType, path: string): readonly Value[] {
  const items = itemsOf(value);
  if (items === undefined) throw refused(value, typeText(type), path);
  return items;
}

function convertItems(
  items: readonly Value[],
  typeAt: (index: number) => HclType,
  budget: Budget,
  path: string,
): readonly Value[] {
  const converted = items.map((item, index) =>
    convert(item, typeAt(index), budget, `${path}[${index}]`),
  );
  return converted.every((item, index) => item === items[index]) ? items : converted;
}

function convertTuple(value: Value, type: TupleType, budget: Budget, path: string): Value {
  if (!isList(value)) throw refused(value, typeText(type), path);
  const { length } = type.items;
  if (value.length !== length) {
    throw new ConversionFault(`has to have ${length} elements, and has ${value.length}`, path);
  }
  return convertItems(value, (index) => type.items[index]!, budget, path);
}

function convertMap(value: Value, type: MapType, budget: Budget, path: string): Value {
  if (!isObject(value)) throw refused(value, typeText(type), path);
  if (type.of.kind === 'any') return value;
  return objectOf(
    Object.entries(value).map(([key, member]) => [
      key,
      convert(member, type.of, budget, memberPath(path, key)),
    ]),
  );
}

function convertObject(value: Value, type: ObjectType, budget: Budget, path: string): ValueObject {
  if (!isObject(value)) throw refused(value, typeText(type), path);
  const lacking = [...type.attributes]
    .filter(([name, { optional }]) => !optional && memberOf(value, name) === undefined)
    .map(([name]) => `"${name}"`);
  if (lacking.length > 0) {
    throw new ConversionFault(`lacks the attribute ${lacking.join(', ')}`, path);
  }
  return objectOf(
    [...type.attributes].map(([name, attribute]) => {
      const given = memberOf(value, name) ?? attribute.default ?? null;
      return [name, convert(given, attribute.type, budget, memberPath(path, name))];
    }),
  );
}

const memberPath = (path: string, key: string): string =>
  /^[A-Za-z_][\w-]*$/.test(key)
    ? `${path}${path === '' ? '' : '.'}${key}`
    : `${path}[${quoted(key)}]`;
