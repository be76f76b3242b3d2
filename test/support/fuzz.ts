/** Requests of any shape, generated from the OpenAPI document. */

import fc from 'fast-check';
import { withoutReferences } from './openapi-references.ts';

export interface Operation {
  readonly method: string;
  /** `/v1/acl/token/{accessor_id}` */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The schema of the body, if there is one. */
  readonly body: JsonSchema | undefined;
  /** The schema of a 200. */
  readonly answer: JsonSchema | undefined;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: JsonSchema;
}

// biome-ignore lint/suspicious/noExplicitAny: a schema of any shape.
export type JsonSchema = any;

// biome-ignore lint/suspicious/noExplicitAny: the document is read as whoever generates from it does.
export function operationsOf(document: any, isAsked: (path: string) => boolean): Operation[] {
  return Object.entries<Record<string, JsonSchema>>(withoutReferences(document).paths)
    .filter(([path]) => isAsked(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        // WebSockets are opened differently.
        .filter(([, { responses }]) => responses[200] !== undefined)
        .map(([method, { parameters, requestBody, responses }]) => ({
          method: method.toUpperCase(),
          path,
          parameters,
          body: requestBody?.content['application/json']?.schema,
          answer: responses[200].content?.['application/json']?.schema,
        })),
    );
}

/** Names of existing records, so that requests get past the first check. */
export interface Known {
  /** Ids and names by path, or by parameter for any path. */
  readonly paths: Readonly<Record<string, readonly string[]>>;
  /** Valid texts by field or query parameter. */
  readonly texts: Readonly<Record<string, readonly string[]>>;
  /** Valid bodies by `METHOD /path`. */
  readonly bodies: Readonly<Record<string, readonly unknown[]>>;
  /** Secrets to present; null: none. */
  readonly secrets: readonly (string | null)[];
}

export interface FuzzedRequest {
  readonly method: string;
  readonly url: string;
  readonly token: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** A string is sent unchanged. */
  readonly body: unknown;
}

/** Texts that break careless programs. */
const hostile = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '*',
    '.',
    '..',
    '../..',
    '/',
    '//',
    '\\',
    '"',
    "'",
    '`',
    '%',
    '%00',
    '%zz',
    '${x}',
    '{{.Name}}',
    '\0',
    'a\0b',
    '\n',
    '\r\nX: y',
    '\u2028',
    '\u202Eabc',
    '\uFEFF',
    'ﬁ',
    'İ',
    'null',
    'true',
    '0',
    '-1',
    '1e999',
    'NaN',
    '9007199254740993',
    '1h-1h',
    '30s',
    '-5m',
    '__proto__',
    'constructor',
    'toString',
    'self',
    'name',
    'anonymous',
    '<hidden>',
    '2030-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-99-99T99:99:99Z',
    '(((',
    'a == b',
    'x'.repeat(257),
    'x'.repeat(5000),
    'é'.repeat(300),
    '[['.repeat(100),
    'a.'.repeat(200),
    'acl = "write"',
    'node "" {',
    '{"acl":',
    'namespace "*" { policy = "write" }',
    '00000000-0000-0000-0000-000000000001',
    'AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA',
  ),
  fc.string({ unit: 'binary' }),
  fc.uuid(),
);

const number = fc.oneof(
  fc.constantFrom(0, -1, 1, 2 ** 31, 2 ** 53, -(2 ** 53), 1e21, 0.5, -0.0001),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const anything = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      [],
      {},
      [null],
      [[]],
      { ['__proto__']: 1 },
      [{}],
      '',
    ),
  },
);

/** Mostly values that fit the schema, including known ones, and sometimes any value. */
export function bodyOf(
  schema: JsonSchema,
  known: Known,
  name = '',
  depth = 0,
): fc.Arbitrary<unknown> {
  const below = (inner: JsonSchema, called = name) => bodyOf(inner, known, called, depth + 1);
  const right = (): fc.Arbitrary<unknown> => {
    if (schema.oneOf) return fc.oneof(...schema.oneOf.map((one: JsonSchema) => below(one)));
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one: JsonSchema) => below(one)));
    if (schema.enum) {
      return fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...schema.enum) },
        { weight: 1, arbitrary: hostile },
      );
    }
    if (Array.isArray(schema.type)) {
      return fc.oneof(...schema.type.map((type: string) => below({ ...schema, type })));
    }
    switch (schema.type) {
      case 'integer':
      case 'number':
        return number;
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'string':
        return text(known.texts[name] ?? places[name]);
      case 'array':
        return depth > 6 ? fc.constant([]) : fc.array(below(schema.items), { maxLength: 3 });
      default:
        return objectOf();
    }
  };
  const objectOf = (): fc.Arbitrary<unknown> => {
    if (schema.properties && depth <= 6) {
      const fields = Object.entries(schema.properties).map(
        ([field, property]) =>
          [field, fc.option(below(property, field), { nil: undefined, freq: 2 })] as const,
      );
      return fc.record(Object.fromEntries(fields));
    }
    return fc.dictionary(text(undefined), fc.oneof(hostile, anything), { maxKeys: 3 });
  };
  return fc.oneof({ weight: 24, arbitrary: right() }, { weight: 1, arbitrary: anything });
}

/** The place of this server. A request that names another is refused before all other checks. */
const places: Readonly<Record<string, readonly string[]>> = {
  dc: ['dc1', 'DC1', ''],
  region: ['global', ''],
  max_stale: ['10s', '1h', ''],
};

const text = (right: readonly string[] | undefined): fc.Arbitrary<string> =>
  right === undefined
    ? hostile
    : fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...right) },
        { weight: 1, arbitrary: hostile },
      );

/** A valid body with one changed value. */
export function spoiled(bodies: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.constantFrom(...bodies).chain((body) => {
    const places = placesIn(body);
    if (places.length === 0) return fc.oneof(fc.constant(body), anything);
    return fc
      .tuple(fc.constantFrom(...places), fc.oneof(hostile, number, anything))
      .map(([place, value]) => replaced(body, place, value));
  });
}

function placesIn(value: unknown, place: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return place.length === 0 ? [] : [place];
  return [
    ...(place.length === 0 ? [] : [place]),
    ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...place, key])),
  ];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy: Record<string, unknown> = Array.isArray(value)
    ? ([...value] as unknown as Record<string, unknown>)
    : { ...(value as object) };
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

const raw = fc.constantFrom(
  '',
  '{',
  '[',
  'null',
  '"x"',
  '{"a":1,"a":2}',
  '{"\\ud800":1}',
  `${'['.repeat(100)}`,
  '\0',
);

function queryOf(parameters: readonly Parameter[], known: Known): fc.Arbitrary<string> {
  const fields = parameters.map(({ name, schema, required }) => {
    const right =
      schema.type === 'boolean'
        ? ['', 'true', 'false']
        : schema.type === 'integer'
          ? ['0', '1', '2', '100']
          : (known.texts[name] ?? places[name]);
    // One in this many is absent.
    const freq = required ? 20 : 2;
    return [name, fc.option(text(right), { nil: undefined, freq })] as const;
  });
  return fc.record(Object.fromEntries(fields)).map((query) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    return new URLSearchParams(given as [string, string][]).toString();
  });
}

/** A request to the operation, mostly with the permission. */
export function requestOf(operation: Operation, known: Known): fc.Arbitrary<FuzzedRequest> {
  const { method, path, body } = operation;
  const [start = '', end, rest = ''] = path.split(/\{[a-z_]+\}/);
  const [parameter, last] = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name!);
  const named = parameter === undefined ? undefined : (known.paths[path] ?? known.paths[parameter]);
  const query = operation.parameters.filter((one) => one.in === 'query');
  // A blocking query would wait for a change, so `wait` is left out.
  const asked = query.filter(({ name }) => name !== 'wait');
  const right = known.bodies[`${method} ${path}`] ?? [];
  const bodies = [
    ...(right.length === 0
      ? []
      : [
          { weight: 3, arbitrary: fc.constantFrom(...right) },
          { weight: 5, arbitrary: spoiled(right) },
        ]),
    { weight: 4, arbitrary: bodyOf(body ?? {}, known) },
    { weight: 1, arbitrary: raw },
  ];
  return fc.record({
    method: fc.constant(method),
    url: fc
      .tuple(
        text(named),
        queryOf(asked, known),
        text(last === undefined ? undefined : known.paths[last]),
      )
      .map(([name, written, second]) => {
        const after = last === undefined ? end : end + encoded(second) + rest;
        const place = end === undefined ? path : start + encoded(name) + after;
        return written === '' ? place : `${place}?${written}`;
      }),
    token: fc.oneof(
      { weight: 8, arbitrary: fc.constant(known.secrets[0]!) },
      { weight: 2, arbitrary: fc.constantFrom(...known.secrets) },
    ),
    headers: fc.oneof(
      { weight: 6, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: text(known.texts.ns).map((ns) => ({ 'x-registry-namespace': ns })) },
    ),
    body: body === undefined ? fc.constant(undefined) : fc.oneof(...bodies),
  });
}

/** Sometimes unencoded, with slashes and percent signs. */
const encoded = (name: string): string =>
  name.length % 7 === 3 ? name : encodeURIComponent(name.toWellFormed());
