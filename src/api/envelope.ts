import type { BodyDefinition, Family } from '../contract/endpoint.ts';
import { About, Text, type Type } from '../model/schema.ts';

/** Fields that typed clients of the scheduler add to every body. */
const envelope = {
  Region: About('The region, which must be that of the server.', Text()),
  Namespace: About('The namespace, where the query names none.', Text()),
  SecretID: About('Not read: a token is shown in a header.', Text()),
};

export interface Envelope {
  readonly Region?: string;
  readonly Namespace?: string;
}

const schemas = new WeakMap<Type.TSchema, Type.TSchema>();

/** The schema of the whole body. Endpoints of the scheduler accept the envelope as well. */
export function bodySchema(family: Family, { schema }: BodyDefinition): Type.TSchema {
  const { properties } = schema as { readonly properties?: Record<string, Type.TSchema> };
  if (family !== 'scheduler' || properties === undefined) return schema;
  let whole = schemas.get(schema);
  if (whole === undefined) {
    whole = { ...schema, properties: { ...envelope, ...properties } } as Type.TSchema;
    schemas.set(schema, whole);
  }
  return whole;
}

/** Separates the endpoint's body from the envelope. */
export function openEnvelope(
  family: Family,
  { schema }: BodyDefinition,
  whole: unknown,
): { readonly body: unknown; readonly envelope: Envelope } {
  const { properties } = schema as { readonly properties?: Record<string, Type.TSchema> };
  if (family !== 'scheduler' || properties === undefined) return { body: whole, envelope: {} };
  const entries = Object.entries(whole as object);
  const isAround = (name: string) => Object.hasOwn(envelope, name) && !(name in properties);
  return {
    body: Object.fromEntries(entries.filter(([name]) => !isAround(name))),
    envelope: Object.fromEntries(entries.filter(([name]) => isAround(name))),
  };
}
