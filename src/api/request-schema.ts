import type { TSchema } from 'typebox';

type Json = Readonly<Record<string, unknown>>;

/**
 * A body's schema as a caller has to know it. Any field may be absent (`model/complete.ts` knows
 * what stands for it), so none is required; what only the server sets is read-only; durations have
 * their second form; and where unknown fields are refused, the schema says so.
 */
export function requestSchema(schema: TSchema, unknown: 'refuse' | 'report'): object {
  return presented(schema as Json, unknown === 'refuse');
}

function presented(schema: Json, isClosed: boolean): Json {
  const { required: _, ...rest } = schema;
  const inner = (one: unknown) => presented(one as Json, isClosed);
  if (rest['x-unit'] === 'ns') return { ...rest, type: ['integer', 'string'] };
  if (Array.isArray(rest.oneOf)) return { ...rest, oneOf: rest.oneOf.map(inner) };
  if (Array.isArray(rest.anyOf)) return { ...rest, anyOf: rest.anyOf.map(inner) };
  if (rest.items !== undefined) return { ...rest, items: inner(rest.items) };
  if (rest.patternProperties !== undefined) {
    return { ...rest, patternProperties: each(rest.patternProperties as Json, inner) };
  }
  if (rest.properties === undefined) return rest;
  const shown = Object.entries(rest.properties as Record<string, Json>).filter(
    ([, property]) => property['x-hidden'] !== true,
  );
  const properties = each(Object.fromEntries(shown), (property) => {
    const { 'x-response-only': isResponseOnly, ...written } = inner(property);
    return isResponseOnly === true ? { ...written, readOnly: true } : written;
  });
  return { ...rest, properties, ...(isClosed && { additionalProperties: false }) };
}

const each = (record: Json, map: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
