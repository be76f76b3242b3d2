import fc from 'fast-check';
import type { Type } from './schema.ts';
import { isResponseOnly, shapeOf, withoutNull } from './schema-shape.ts';

/** By `Title.Field` of a record, or by `Title` for a whole record; `null`: never given. */
export type Overrides = Readonly<Record<string, fc.Arbitrary<unknown> | null>>;

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,6}[a-z0-9]$/);
const second = 1e9;

/** Durations in both forms: text and nanoseconds. */
export const durations = (minSeconds: number, maxSeconds: number): fc.Arbitrary<unknown> =>
  fc
    .integer({ min: minSeconds, max: maxSeconds })
    .chain((seconds) => fc.constantFrom<unknown>(seconds * second, `${seconds}s`));

/**
 * Values of a model's schema: of the right types, within the bounds, any field absent, null or given. Rules
 * between fields are left to `overrides` and to the caller.
 */
export function arbitraryOf(schema: Type.TSchema, overrides: Overrides): fc.Arbitrary<unknown> {
  const inner = withoutNull(schema);
  const value = ofShape(inner.schema, overrides);
  return inner.nullable ? fc.option(value, { nil: null, freq: 3 }) : value;
}

function ofShape(schema: Type.TSchema, overrides: Overrides): fc.Arbitrary<unknown> {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'free':
      return fc.jsonValue({ maxDepth: 1 });
    case 'boolean':
      return fc.boolean();
    case 'string': {
      const choices = shape.choices?.filter((choice) => choice !== '');
      return choices === undefined ? word : fc.constantFrom(...choices);
    }
    case 'number': {
      const { minimum = 0, maximum = minimum + 100 } = shape;
      if (shape.duration) return durations(Math.ceil(minimum / second), 60);
      return fc.integer({ min: minimum, max: Math.min(maximum, minimum + 100) });
    }
    case 'list':
      return fc.array(arbitraryOf(shape.item, overrides), { maxLength: 2 });
    case 'map':
      return fc.dictionary(word, arbitraryOf(shape.value, overrides), { maxKeys: 2 });
    case 'record':
      return recordOf((schema as { title?: string }).title ?? '', shape.properties, overrides);
  }
}

function recordOf(
  title: string,
  properties: Readonly<Record<string, Type.TSchema>>,
  overrides: Overrides,
): fc.Arbitrary<unknown> {
  const whole = overrides[title];
  if (whole) return whole;
  const fields: [string, fc.Arbitrary<unknown>][] = [];
  for (const [name, property] of Object.entries(properties)) {
    if (isResponseOnly(property)) continue;
    const override = overrides[`${title}.${name}`];
    if (override !== null) fields.push([name, override ?? arbitraryOf(property, overrides)]);
  }
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}
