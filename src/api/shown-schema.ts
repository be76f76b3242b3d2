import type { TSchema } from 'typebox';

/**
 * A record's schema without what the server keeps to itself, which is no part of an answer and
 * cannot be asked for by a filter.
 */
export function shownSchema(schema: TSchema): object {
  const { properties } = schema as { properties?: Record<string, TSchema> };
  if (properties === undefined) return schema;
  const shown = Object.entries(properties).filter(([, property]) => !isHidden(property));
  const { required } = schema as { required?: readonly string[] };
  const names = new Set(shown.map(([name]) => name));
  return {
    ...schema,
    properties: Object.fromEntries(shown),
    ...(required && { required: required.filter((name) => names.has(name)) }),
  };
}

const isHidden = (schema: TSchema): boolean =>
  (schema as { 'x-hidden'?: boolean })['x-hidden'] === true;
