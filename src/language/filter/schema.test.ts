import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { compileFilter } from './filter.ts';
import { describeType, fieldType, type JsonSchema } from './schema.ts';

test.each<[schema: JsonSchema, expected: string]>([
  [Type.String(), 'a string'],
  [Type.Literal('x'), 'a string'],
  [Type.Literal(5), 'a number'],
  [{ const: 5 }, 'an integer'],
  [{ enum: ['a', 'b', null] }, 'a string'],
  [Type.Union([Type.Integer(), Type.Null()]), 'an integer'],
  [Type.Union([Type.Integer(), Type.Number()]), 'a number'],
  [Type.Union([Type.Integer(), Type.String()]), 'a free value'],
  [{ type: ['string', 'null'] }, 'a string'],
  [{ type: ['string', 'integer'] }, 'a free value'],
  [Type.Null(), 'a free value'],
  [true, 'a free value'],
  [{}, 'a free value'],
  [Type.Array(Type.Boolean()), 'a list of booleans'],
  [{ items: { type: 'string' } }, 'a list of strings'],
  [{ type: 'array' }, 'a list of values'],
  [Type.Union([Type.Array(Type.String()), Type.Null()]), 'a list of strings'],
  [Type.Record(Type.String(), Type.String()), 'a map'],
  [{ type: 'object' }, 'a map'],
  [{ type: 'object', additionalProperties: { type: 'string' } }, 'a map'],
  [Type.Object({}), 'an object'],
  [{ type: 'object', additionalProperties: false }, 'an object'],
  [
    Type.Intersect([Type.Object({ A: Type.String() }), Type.Object({ B: Type.String() })]),
    'an object',
  ],
  [{ $ref: '#/$defs/T', $defs: { T: { type: 'string' } } }, 'a string'],
  [{ $ref: 'T', $defs: { T: { type: 'string' } } }, 'a string'],
  [{ $ref: '#/$defs/T', $defs: { T: { $ref: '#/$defs/T' } } }, 'a free value'],
  [{ $ref: 'Nowhere' }, 'a free value'],
])('%j is %s', (schema, expected) => {
  expect(describeType(fieldType(schema, schema), schema)).toBe(expected);
});

test.each<[filter: string, expected: boolean]>([
  ['Next.Next.Name == c', true],
  ['Next.Name == c', false],
  ['Next.Next.Next is empty', true],
  ['Kind == two and Both == x', true],
  ['Only == 5', true],
])('a schema that refers to itself and has alternatives: %s', (filter, expected) => {
  const alternatives = {
    anyOf: [
      { type: 'object', properties: { Kind: { const: 'one' }, Both: { type: 'string' } } },
      {
        type: 'object',
        properties: {
          Kind: { const: 'two' },
          Both: { type: 'string' },
          Only: { type: 'integer' },
        },
      },
    ],
  };
  const node = {
    type: 'object',
    properties: { Name: { type: 'string' }, Next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
  };
  const schema = { allOf: [node, alternatives] };
  const record = {
    Kind: 'two',
    Both: 'x',
    Only: 5,
    Name: 'a',
    Next: { Name: 'b', Next: { Name: 'c', Next: null } },
  };
  expect(compileFilter(filter, schema)(record)).toBe(expected);
});
