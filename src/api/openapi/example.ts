import { limits } from '../limits.ts';
import type { Json } from './named-schemas.ts';

/**
 * A generated example of a schema, for endpoints whose contract has none. It is made of choices,
 * bounds and field names, and always the same. `resolve` finds the schema of a reference.
 */
export function exampleOf(schema: Json, resolve: (reference: string) => Json): unknown {
  return made({ schema, name: '', depth: 0, resolve });
}

interface Wanted {
  readonly schema: Json;
  /** The name of the field. */
  readonly name: string;
  readonly depth: number;
  readonly resolve: (reference: string) => Json;
}

function made({ schema, name, depth, resolve }: Wanted): unknown {
  if (typeof schema.$ref === 'string') {
    return made({ schema: resolve(schema.$ref), name, depth, resolve });
  }
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Json[] | undefined;
  if (choices !== undefined) {
    const isNullable = choices.some(({ type }) => type === 'null');
    if (isNullable && depth >= limits.exampleDepthMax) return null;
    return made({ schema: choices[0]!, name, depth, resolve });
  }
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum.find((one) => one !== '') ?? schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object') return record({ schema, name, depth, resolve });
  if (type === 'array') {
    if (depth >= limits.exampleDepthMax) return [];
    return [
      made({ schema: schema.items as Json, name: singular(name), depth: depth + 1, resolve }),
    ];
  }
  return plain(schema, name, type);
}

function record({ schema, depth, resolve }: Wanted): unknown {
  const { properties, required } = schema as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  if (properties === undefined) return {};
  const wanted = Object.entries(properties).filter(
    ([name, property]) =>
      property.readOnly !== true && (depth < limits.exampleDepthMax || required?.includes(name)),
  );
  return Object.fromEntries(
    wanted.map(([name, property]) => [
      name,
      made({ schema: property, name, depth: depth + 1, resolve }),
    ]),
  );
}

function plain(schema: Json, name: string, type: unknown): unknown {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema as Json & {
    readonly minimum?: number;
    readonly maximum?: number;
  };
  if (schema['x-unit'] === 'instant') return 1_767_225_600_000_000_000;
  if (type === 'integer' || type === 'number') {
    const usual = schema['x-unit'] === 'ns' ? 30_000_000_000 : 1;
    const absent = typeof schema.default === 'number' && schema.default !== 0;
    return absent ? schema.default : Math.min(Math.max(usual, minimum), maximum);
  }
  if (type === 'boolean') return schema.default ?? false;
  if (type === 'null') return null;
  if (type !== 'string') return schema.default ?? null;
  if (schema.format === 'date-time') return '2026-01-01T00:00:00Z';
  if (typeof schema.default === 'string' && schema.default !== '') return schema.default;
  return textFor(name);
}

/** A text that suits the name of a field. */
export function textFor(name: string): string {
  if (/(^|[a-z])(ID|_id)$|^id$/.test(name) && name !== 'JobID' && name !== 'job_id') {
    return '5f0c2b1e-8a47-4a3c-9d5e-1b6f7c8d9e0a';
  }
  if (/Namespace$|^namespace$/.test(name)) return 'default';
  if (/Partition$/.test(name)) return 'default';
  if (/Datacenter$/.test(name)) return 'dc1';
  if (/Region$/.test(name)) return 'global';
  if (/Address$|HTTPAddr$/.test(name)) return '192.0.2.10';
  return 'web';
}

const singular = (name: string): string => name.replace(/s$/, '');
