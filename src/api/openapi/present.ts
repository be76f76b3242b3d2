import type { Json, Presentation } from './named-schemas.ts';

/**
 * The schema of a body. No field is required, because `model/complete.ts` fills absent ones. Fields
 * that only the server sets are read-only, durations may be texts, and the schema is closed where
 * unknown fields are refused.
 */
export const asRequest =
  (isClosed: boolean): Presentation =>
  (schema, inner) => {
    const { required: _, ...rest } = schema;
    if (rest['x-unit'] === 'ns') return { ...rest, type: ['integer', 'string'] };
    const parts = withParts(rest, inner);
    if (rest.properties === undefined) return parts;
    const properties = each(shownProperties(rest), (property) => {
      const { 'x-response-only': isResponseOnly, ...written } = inner(property);
      const own = (property as Json)['x-response-only'] ?? isResponseOnly;
      return own === true ? { ...written, readOnly: true } : written;
    });
    return { ...parts, properties, ...(isClosed && { additionalProperties: false }) };
  };

/** The schema of an answer, without hidden fields. */
export const asAnswer: Presentation = (schema, inner) => {
  const parts = withParts(schema, inner);
  if (schema.properties === undefined) return parts;
  const properties = each(shownProperties(schema), inner);
  const required = schema.required as readonly string[] | undefined;
  return {
    ...parts,
    properties,
    ...(required && { required: required.filter((name) => Object.hasOwn(properties, name)) }),
  };
};

function withParts(schema: Json, inner: (part: unknown) => Json): Json {
  const { oneOf, anyOf, items, patternProperties } = schema;
  return {
    ...schema,
    ...(Array.isArray(oneOf) && { oneOf: oneOf.map(inner) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map(inner) }),
    ...(items !== undefined && { items: inner(items) }),
    ...(patternProperties !== undefined && {
      patternProperties: each(patternProperties as Json, inner),
    }),
  };
}

const shownProperties = ({ properties }: Json): Json =>
  Object.fromEntries(
    Object.entries(properties as Record<string, Json>).filter(
      ([, property]) => property['x-hidden'] !== true,
    ),
  );

const each = (record: Json, map: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
