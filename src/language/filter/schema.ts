/**
 * The types of a record's fields, read from its JSON Schema step by step, so that a schema may refer to
 * itself. Null is no type here: a field that may be null has its other type, whose zero value is null.
 */
export type JsonSchema = object | boolean;

export type FieldType =
  | { readonly kind: 'string' | 'integer' | 'number' | 'boolean' }
  /** Free content, whose type is only known at evaluation. */
  | { readonly kind: 'any' }
  | { readonly kind: 'list'; readonly items: JsonSchema }
  | {
      readonly kind: 'object';
      readonly fields: ReadonlyMap<string, JsonSchema>;
      /** The values of undeclared names. An object with `rest` is a map. */
      readonly rest: JsonSchema | undefined;
    };

type Keywords = Readonly<Record<string, unknown>>;

const any: FieldType = { kind: 'any' };
const scalars: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean']);
/** Not in limits: only a schema of nothing but nested `$ref` and `anyOf` is so deep. */
const resolveDepth = 32;

/** `root`: the schema to which `$ref` refers. */
export function fieldType(schema: JsonSchema, root: JsonSchema): FieldType {
  return resolve(schema, root, 0) ?? any;
}

/** Returns `undefined` for a schema that allows only null. */
function resolve(schema: unknown, root: JsonSchema, depth: number): FieldType | undefined {
  if (typeof schema !== 'object' || schema === null || depth > resolveDepth) return any;
  const keywords = schema as Keywords;
  if (typeof keywords.$ref === 'string') {
    return resolve(definition(keywords, root as Keywords), root, depth + 1);
  }
  const alternatives = keywords.anyOf ?? keywords.oneOf;
  if (Array.isArray(alternatives)) return join(alternatives, root, depth, either);
  if (Array.isArray(keywords.allOf)) return join(keywords.allOf, root, depth, both);
  if (Array.isArray(keywords.type)) {
    const each = keywords.type.map((type) => ({ ...keywords, type }));
    return join(each, root, depth, either);
  }
  return single(keywords, root, depth);
}

function single(keywords: Keywords, root: JsonSchema, depth: number): FieldType | undefined {
  if (keywords.type === 'null') return undefined;
  if (scalars.has(keywords.type)) return { kind: keywords.type } as FieldType;
  if ('const' in keywords) return typeOfValue(keywords.const);
  if (Array.isArray(keywords.enum)) {
    const each = keywords.enum.map((value) => ({ const: value }));
    return join(each, root, depth, either);
  }
  if (keywords.type === 'array' || (keywords.type === undefined && 'items' in keywords)) {
    return { kind: 'list', items: isSchema(keywords.items) ? keywords.items : true };
  }
  if (keywords.type === 'object' || 'properties' in keywords || 'patternProperties' in keywords) {
    return objectType(keywords);
  }
  return any;
}

function objectType(keywords: Keywords): FieldType {
  const declared = keywords.properties as Record<string, JsonSchema> | undefined;
  const fields = new Map(Object.entries(declared ?? {}));
  const patterns = Object.values((keywords.patternProperties ?? {}) as Record<string, JsonSchema>);
  const additional = keywords.additionalProperties;
  if (patterns.length > 0) return { kind: 'object', fields, rest: { anyOf: patterns } };
  if (additional !== undefined) {
    const rest = additional === false ? undefined : (additional as JsonSchema);
    return { kind: 'object', fields, rest };
  }
  return { kind: 'object', fields, rest: declared === undefined ? true : undefined };
}

function typeOfValue(value: unknown): FieldType | undefined {
  if (value === null) return undefined;
  if (Number.isInteger(value)) return { kind: 'integer' };
  return scalars.has(typeof value) ? ({ kind: typeof value } as FieldType) : any;
}

type Join = (left: FieldType, right: FieldType) => FieldType;

function join(
  schemas: readonly unknown[],
  root: JsonSchema,
  depth: number,
  pair: Join,
): FieldType | undefined {
  const types = schemas
    .map((schema) => resolve(schema, root, depth + 1))
    .filter((type) => type !== undefined);
  return types.length === 0 ? undefined : types.reduce(pair);
}

/** The type of a value of either type. */
function either(left: FieldType, right: FieldType): FieldType {
  if (left.kind === 'object' && right.kind === 'object') return merged(left, right, 'anyOf');
  if (left.kind === 'list' && right.kind === 'list') {
    return { kind: 'list', items: { anyOf: [left.items, right.items] } };
  }
  if (left.kind === right.kind) return left;
  const kinds = new Set([left.kind, right.kind]);
  return kinds.has('integer') && kinds.has('number') ? { kind: 'number' } : any;
}

/** The type of a value of both types. */
function both(left: FieldType, right: FieldType): FieldType {
  if (left.kind === 'any') return right;
  if (left.kind === 'object' && right.kind === 'object') return merged(left, right, 'allOf');
  return left;
}

type ObjectType = Extract<FieldType, { kind: 'object' }>;

function merged(left: ObjectType, right: ObjectType, keyword: 'anyOf' | 'allOf'): FieldType {
  const fields = new Map(left.fields);
  for (const [name, schema] of right.fields) {
    const known = fields.get(name);
    fields.set(name, known === undefined ? schema : { [keyword]: [known, schema] });
  }
  const rests = [left.rest, right.rest].filter((rest) => rest !== undefined);
  const rest = rests.length === 2 ? { [keyword]: rests } : rests[0];
  return { kind: 'object', fields, rest };
}

/** The schema of a `$ref`: `#/$defs/Name`, or the bare `Name` of a definition. */
function definition(keywords: Keywords, root: Keywords): unknown {
  const reference = keywords.$ref as string;
  if (reference === '#') return root;
  if (reference.startsWith('#/')) {
    let at: unknown = root;
    for (const part of reference.slice(2).split('/')) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      at = typeof at === 'object' && at !== null ? (at as Keywords)[key] : undefined;
    }
    return at;
  }
  const near = keywords.$defs as Keywords | undefined;
  return near?.[reference] ?? (root.$defs as Keywords | undefined)?.[reference];
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'boolean' ||
  (typeof value === 'object' && value !== null && !Array.isArray(value));

const plurals: Readonly<Record<FieldType['kind'], string>> = {
  string: 'strings',
  integer: 'integers',
  number: 'numbers',
  boolean: 'booleans',
  any: 'values',
  list: 'lists',
  object: 'objects',
};

/** The type in messages: "a string", "a list of objects", "a map". */
export function describeType(type: FieldType, root: JsonSchema): string {
  if (type.kind === 'list') return `a list of ${plurals[fieldType(type.items, root).kind]}`;
  if (type.kind === 'object') return type.rest === undefined ? 'an object' : 'a map';
  if (type.kind === 'any') return 'a free value';
  return type.kind === 'integer' ? 'an integer' : `a ${type.kind}`;
}
