/**
 * Completes a decoded record by its schema: absent properties get the default of the schema. Empty lists and
 * maps that may be null become null, so that `[]` and `{}` never count as a change
 * (docs/behaviour/job-specification.md#canonical-jobs). Idempotent; the input is not changed.
 */
import type { Immutable, Input, Type } from './schema.ts';
import { absentValue, shapeOf, withoutNull } from './schema-shape.ts';

type Completer = (value: unknown) => unknown;

export function complete<S extends Type.TSchema>(
  schema: S,
  input: Input<Immutable<Type.Static<S>>>,
): Immutable<Type.Static<S>> {
  return completerOf(schema)(input) as Immutable<Type.Static<S>>;
}

const completers = new WeakMap<Type.TSchema, Completer>();

function completerOf(schema: Type.TSchema): Completer {
  let completer = completers.get(schema);
  if (completer === undefined) {
    completer = compile(schema);
    completers.set(schema, completer);
  }
  return completer;
}

function compile(outer: Type.TSchema): Completer {
  const { schema, nullable } = withoutNull(outer);
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'free': {
      const absent = nullable ? null : absentValue(schema);
      return (value) => value ?? absent;
    }
    case 'list':
      return listCompleter(itemCompleter(shape.item), nullable, isPlain(shape.item));
    case 'map':
      return mapCompleter(completerOf(shape.value), nullable, isPlain(shape.value));
    case 'record': {
      const fields = recordCompleter(shape.properties);
      if (!nullable) return (value) => fields((value ?? {}) as Record<string, unknown>);
      return (value) => (value == null ? null : fields(value as Record<string, unknown>));
    }
  }
}

/** Whether nothing in the container needs completing, so that the container itself is kept. */
function isPlain(schema: Type.TSchema): boolean {
  const { kind } = shapeOf(withoutNull(schema).schema);
  return kind !== 'record' && kind !== 'list' && kind !== 'map';
}

/** A hole in a list is an element that the codec found at fault: it counts as absent, and as empty text. */
function itemCompleter(schema: Type.TSchema): Completer {
  const isText = shapeOf(withoutNull(schema).schema).kind === 'string';
  const fill = completerOf(schema);
  return isText ? (value) => fill(value) ?? '' : fill;
}

function listCompleter(item: Completer, nullable: boolean, plain: boolean): Completer {
  return (value) => {
    const list = (value ?? []) as readonly unknown[];
    if (nullable && list.length === 0) return null;
    return plain && !list.includes(undefined) ? list : list.map(item);
  };
}

function mapCompleter(inner: Completer, nullable: boolean, plain: boolean): Completer {
  return (value) => {
    const map = (value ?? {}) as Readonly<Record<string, unknown>>;
    const entries = Object.entries(map);
    if (nullable && entries.length === 0) return null;
    return plain ? map : Object.fromEntries(entries.map(([name, one]) => [name, inner(one)]));
  };
}

/**
 * Most fields of most records are absent. So a record starts as a copy of the record of all defaults, which
 * keeps the object's layout, and the given fields are then set. Defaults that are records are shared, as they
 * never change.
 */
function recordCompleter(properties: Readonly<Record<string, Type.TSchema>>) {
  const completers = new Map<string, Completer>();
  for (const [name, property] of Object.entries(properties)) {
    completers.set(name, completerOf(property));
  }
  let absent: Readonly<Record<string, unknown>> | undefined;
  return (value: Readonly<Record<string, unknown>>): unknown => {
    absent ??= Object.fromEntries([...completers].map(([name, fill]) => [name, fill(undefined)]));
    const completed: Record<string, unknown> = { ...absent };
    for (const name in value) {
      const given = value[name];
      if (given === null || given === undefined) continue;
      const completer = completers.get(name);
      if (completer !== undefined) completed[name] = completer(given);
    }
    return completed;
  };
}
