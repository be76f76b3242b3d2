import type { TSchema } from 'typebox';

/** The schema without hidden fields, which neither answers nor filters contain. */
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
