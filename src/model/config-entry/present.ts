/**
 * An entry as it is shown: every field of its schema is there, durations are text ("5m0s") unless their
 * schema wants the number, and nothing is hidden.
 * Source: docs/contract/http.md#numbers-durations-and-instants, #fields-in-answers.
 */
import { formatDuration } from '../../base/duration.ts';
import { Type } from '../schema.ts';
import { isShownAsNumber, shapeOf, withoutNull } from '../schema-shape.ts';
import type { ConfigEntry, ConfigKindName } from './config-entry.ts';
import { kindOf, kinds } from './kinds.ts';

type Shown = Readonly<Record<string, unknown>>;
type Presenter = (value: unknown) => unknown;

export const presentEntry = (entry: ConfigEntry): Shown =>
  presenterOf(kindOf(entry.Kind).schema)!(entry) as Shown;

/** The schema of the result of {@link presentEntry}. */
export function shownEntrySchema(name: ConfigKindName): Type.TSchema {
  let schema = shownSchemas.get(name);
  if (schema === undefined) {
    const { kind, schema: own, summary } = kindOf(name);
    const shown = shownSchema(own) as { properties: object };
    const Kind = { type: 'string', enum: [kind] };
    const properties = { ...shown.properties, Kind };
    schema = { ...shown, description: summary, properties } as unknown as Type.TSchema;
    shownSchemas.set(name, schema);
  }
  return schema;
}
const shownSchemas = new Map<ConfigKindName, Type.TSchema>();

/** An entry of any kind, shown. */
export const AnyShownEntrySchema = () =>
  Type.Unsafe({ oneOf: kinds.map(({ kind }) => shownEntrySchema(kind)) });

/** A body that is an entry of any kind. */
export const AnyEntrySchema = () =>
  Type.Unsafe({
    oneOf: kinds.map(({ kind, schema, summary }) => {
      const properties = { ...schema.properties, Kind: { type: 'string', enum: [kind] } };
      return { ...schema, description: summary, properties };
    }),
  });

/** `as it is`: the value needs no change. */
const presenters = new WeakMap<Type.TSchema, Presenter | 'as it is'>();

function presenterOf(schema: Type.TSchema): Presenter | undefined {
  let presenter = presenters.get(schema);
  if (presenter === undefined) {
    presenter = compile(withoutNull(schema).schema) ?? 'as it is';
    presenters.set(schema, presenter);
  }
  return presenter === 'as it is' ? undefined : presenter;
}

const unlessNull =
  (present: Presenter): Presenter =>
  (value) =>
    value === null || value === undefined ? null : present(value);

function compile(schema: Type.TSchema): Presenter | undefined {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'number':
      return shape.duration && !isShownAsNumber(schema)
        ? unlessNull((value) => formatDuration(value as number))
        : undefined;
    case 'list': {
      const item = presenterOf(shape.item);
      return item && unlessNull((value) => (value as readonly unknown[]).map(item));
    }
    case 'map': {
      const inner = presenterOf(shape.value);
      return inner && unlessNull((value) => mapped(value as Shown, inner));
    }
    case 'record':
      return unlessNull(recordPresenter(shape.properties));
    default:
      return undefined;
  }
}

const mapped = (record: Shown, map: Presenter): Shown =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));

function recordPresenter(properties: Readonly<Record<string, Type.TSchema>>): Presenter {
  const fields = Object.entries(properties)
    .filter(([, property]) => !('x-hidden' in property))
    .map(([name, property]) => [name, presenterOf(property)] as const);
  return (value) => {
    const shown: Record<string, unknown> = {};
    for (const [name, present] of fields) {
      const one = (value as Shown)[name];
      shown[name] = present === undefined ? one : present(one);
    }
    return shown;
  };
}

type Json = Readonly<Record<string, unknown>>;

/** Makes the schema of the shown form by the same walk. An unset field may be left out. */
export function shownSchema(schema: unknown): Json {
  const { required: _, default: __, ...rest } = schema as Json;
  if (rest['x-unit'] === 'ns' && !isShownAsNumber(rest)) {
    const { minimum: ___, maximum: ____, ...text } = rest;
    return { ...text, type: 'string' };
  }
  if (Array.isArray(rest.anyOf)) return { ...rest, anyOf: rest.anyOf.map(shownSchema) };
  if (rest.items !== undefined) return { ...rest, items: shownSchema(rest.items) };
  if (rest.patternProperties !== undefined) {
    return { ...rest, patternProperties: mapped(rest.patternProperties as Json, shownSchema) };
  }
  if (rest.properties === undefined) return rest;
  const shown = Object.entries(rest.properties as Json).filter(
    ([, property]) => !('x-hidden' in (property as object)),
  );
  return { ...rest, properties: mapped(Object.fromEntries(shown), shownSchema) };
}
