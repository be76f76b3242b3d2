import { Nullable, Type } from '../schema.ts';
import { shapeOf, withoutNull } from '../schema-shape.ts';
import { type JobInput, JobSchema } from './job.ts';

type Unsetter = (value: unknown) => unknown;

/** A job with null for each unset field. Source: docs/behaviour/jobs.md#parse-and-validate. */
export const withUnsetFields = (job: JobInput): JobInput => unsetterOf(JobSchema)(job) as JobInput;

const unsetters = new WeakMap<Type.TSchema, Unsetter>();

function unsetterOf(schema: Type.TSchema): Unsetter {
  let unsetter = unsetters.get(schema);
  if (unsetter === undefined) {
    const inner = compile(withoutNull(schema).schema);
    unsetter = (value) => (value === undefined || value === null ? null : inner(value));
    unsetters.set(schema, unsetter);
  }
  return unsetter;
}

function compile(schema: Type.TSchema): Unsetter {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'record': {
      const fields = Object.entries(shape.properties).map(
        ([name, property]) => [name, unsetterOf(property)] as const,
      );
      return (value) =>
        Object.fromEntries(
          fields.map(([name, unsetter]) => [name, unsetter((value as Fields)[name])]),
        );
    }
    case 'list': {
      const item = unsetterOf(shape.item);
      return (value) => (value as readonly unknown[]).map(item);
    }
    case 'map': {
      const inner = unsetterOf(shape.value);
      return (value) =>
        Object.fromEntries(Object.entries(value as Fields).map(([key, one]) => [key, inner(one)]));
    }
    default:
      return (value) => value;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** A job that may have null in any field. */
export const UnsetJobSchema: Type.TSchema = open(JobSchema);

function open(schema: Type.TSchema): Type.TSchema {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'record': {
      const fields = Object.entries(shape.properties).map(([name, property]) => [
        name,
        Nullable(open(withoutNull(property).schema)),
      ]);
      return Type.Object(Object.fromEntries(fields));
    }
    case 'list':
      return Type.Array(open(shape.item));
    case 'map':
      return Type.Record(Type.String(), open(shape.value));
    default:
      return schema;
  }
}
