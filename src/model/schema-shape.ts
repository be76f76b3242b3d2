import { AssertionError } from '../base/assert.ts';
import type { WordKind } from '../language/words/field-words.ts';
import type { Type } from './schema.ts';

/** A schema node as the walkers see it: a few shapes, whatever JSON Schema it is written in. */
export type Shape =
  | { readonly kind: 'free' }
  | {
      readonly kind: 'string';
      readonly choices: readonly string[] | undefined;
      readonly maxLength: number | undefined;
      readonly words: WordKind | undefined;
    }
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'number';
      readonly whole: boolean;
      readonly duration: boolean;
      readonly instant: boolean;
      readonly minimum: number | undefined;
      readonly maximum: number | undefined;
    }
  | { readonly kind: 'list'; readonly item: Type.TSchema }
  | { readonly kind: 'map'; readonly value: Type.TSchema }
  | { readonly kind: 'record'; readonly properties: Readonly<Record<string, Type.TSchema>> };

interface Node {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: Type.TSchema;
  readonly properties?: Readonly<Record<string, Type.TSchema>>;
  readonly patternProperties?: Readonly<Record<string, Type.TSchema>>;
  readonly anyOf?: readonly Type.TSchema[];
  readonly default?: unknown;
  readonly 'x-unit'?: string;
  readonly 'x-free'?: boolean;
  readonly 'x-response-only'?: boolean;
  readonly 'x-words'?: WordKind;
}

/** The schema without its null, and whether it had one. */
export function withoutNull(schema: Type.TSchema): { schema: Type.TSchema; nullable: boolean } {
  const { anyOf } = schema as Node;
  if (anyOf === undefined) return { schema, nullable: false };
  const rest = anyOf.filter((choice) => (choice as Node).type !== 'null');
  if (rest.length !== 1)
    throw new AssertionError('a union in a model schema is one schema and null');
  return { schema: rest[0]!, nullable: rest.length < anyOf.length };
}

export const isResponseOnly = (schema: Type.TSchema): boolean =>
  (schema as Node)['x-response-only'] === true;

/** Whether answers show the duration as a number, where other durations are text. */
export const isShownAsNumber = (schema: object): boolean => 'x-shown' in schema;

/** The default of an absent property; `undefined` if the schema names none. */
export const absentValue = (schema: Type.TSchema): unknown => (schema as Node).default;

/** The shape of a schema without a null of its own. */
export function shapeOf(schema: Type.TSchema): Shape {
  const node = schema as Node;
  if (node['x-free']) return { kind: 'free' };
  switch (node.type) {
    case 'string':
      return {
        kind: 'string',
        choices: node.enum,
        maxLength: node.maxLength,
        words: node['x-words'],
      };
    case 'boolean':
      return { kind: 'boolean' };
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        whole: node.type === 'integer',
        duration: node['x-unit'] === 'ns',
        instant: node['x-unit'] === 'instant',
        minimum: node.minimum,
        maximum: node.maximum,
      };
    case 'array':
      return { kind: 'list', item: node.items! };
    case 'object': {
      const value = Object.values(node.patternProperties ?? {})[0];
      if (value !== undefined) return { kind: 'map', value };
      return { kind: 'record', properties: node.properties ?? {} };
    }
    default:
      throw new AssertionError(
        `a model schema has a node that no walker knows: ${JSON.stringify(node)}`,
      );
  }
}
