/** The fields of stored rows, held against the forms of their tables. */
import { assert } from '../../base/assert.ts';
import type { StoreDamage } from '../engine/salvage/examined-store.ts';
import type { View } from '../view.ts';
import { salvageLimits } from './limits.ts';
import { storedForms } from './stored-forms.ts';

/**
 * The fields that are missing, of another type, or out of their bounds: the first of each row, and as many as a person
 * reads. No value is in a fault, since it may be a secret.
 */
export function fieldFaults({ tables }: View): readonly StoreDamage[] {
  const faults: StoreDamage[] = [];
  for (const table of tables.values()) {
    const { name, key } = table.definition;
    for (const row of table.scan()) {
      const found = faultIn(name, row);
      if (found === undefined) continue;
      const at = `the row ${key(row).join('/')} of the table ${name}, field ${found.field}`;
      faults.push({ at, fault: `${found.fault}; a repair keeps the row as it is` });
      if (faults.length === salvageLimits.fieldFaultsMax) return faults;
    }
  }
  return faults;
}

/** The first fault in a row of the table; `undefined`: there is none. */
export function faultIn(table: string, row: object): FieldFault | undefined {
  const formOf = storedForms.get(table);
  assert(formOf !== undefined, `the table ${table} has a form`);
  const form = formOf(row);
  if (form === undefined) return { field: 'Kind', fault: 'it is no kind that this program knows' };
  return fieldFault(form as Shape, row, '');
}

interface Shape {
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Shape | boolean;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

interface FieldFault {
  readonly field: string;
  readonly fault: string;
}

/** The first field that is at fault; `undefined`: there is none. */
function fieldFault(shape: Shape, value: unknown, field: string): FieldFault | undefined {
  if (value === undefined) return undefined;
  if (shape.anyOf !== undefined) {
    const found = shape.anyOf.map((one) => fieldFault(one, value, field));
    if (found.includes(undefined)) return undefined;
    // The branch that fits best has its fault deepest.
    return found.toSorted((left, right) => right!.field.length - left!.field.length)[0];
  }
  const { type } = shape;
  if (type !== undefined && !isOf(type, value)) {
    return { field, fault: `it is no ${type === 'string' ? 'text' : type}` };
  }
  const fault = valueFault(shape, value);
  if (fault !== undefined) return { field, fault };
  if (type === 'array' && shape.items !== undefined) {
    return firstFault((value as readonly unknown[]).entries(), () => shape.items, field);
  }
  return type === 'object' ? recordFault(shape, value as object, field) : undefined;
}

function recordFault(shape: Shape, value: object, field: string): FieldFault | undefined {
  const missing = shape.required?.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return { field: below(field, missing), fault: 'it is missing' };
  const others = [shape.additionalProperties, ...Object.values(shape.patternProperties ?? {})].find(
    (one) => typeof one === 'object',
  );
  const shapeOf = (name: string | number) =>
    Object.hasOwn(shape.properties ?? {}, name) ? shape.properties![name] : others;
  return firstFault(Object.entries(value), shapeOf, field);
}

/** Why a value of the right type is out of its bounds. */
function valueFault(shape: Shape, value: unknown): string | undefined {
  const { enum: choices, maxLength = Number.POSITIVE_INFINITY } = shape;
  // A choice that was left open is stored as its default.
  if (choices !== undefined && ![...choices, shape.default].includes(value as string)) {
    return `it is none of ${choices.filter((choice) => choice !== '').join(', ')}`;
  }
  if (typeof value === 'string' && value.length > maxLength) {
    return `it is longer than ${maxLength} characters`;
  }
  if (typeof value !== 'number') return undefined;
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = shape;
  if (value < minimum) return `it is less than ${minimum}`;
  return value > maximum ? `it is greater than ${maximum}` : undefined;
}

function firstFault(
  entries: Iterable<readonly [string | number, unknown]>,
  shapeOf: (name: string | number) => Shape | undefined,
  above: string,
): FieldFault | undefined {
  for (const [name, value] of entries) {
    const shape = shapeOf(name);
    const found = shape && fieldFault(shape, value, below(above, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

const below = (above: string, name: string | number): string =>
  above === '' ? `${name}` : `${above}/${name}`;

function isOf(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
  return typeof value === type;
}
