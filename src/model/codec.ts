/**
 * Decodes a caller's input by a schema, in one walk that is compiled once for each schema into closures. A
 * general validator as a second pass would not do: it could not report the contract's paths, would not know
 * the keys that the walk renames, and knows no durations. Source: docs/contract/http.md#bodies.
 *
 * Invariants
 *
 *  C1. Keys are matched in any case (in snake_case as well, when asked); the result has the schema's
 *      names. Two keys of the same property are a fault that names both.
 *  C2. Nothing is coerced. Three types have a second form: a duration ("30s" is 30e9 nanoseconds), an
 *      instant (RFC 3339), so that an instant that was read can be sent back, and text marked `x-written` (a
 *      number or a boolean).
 *  C3. null and absent are the same if the schema has no null; the property is then left out, and
 *      `complete.ts` gives it its default.
 *  C4. Free values (`Config`, ...) pass as they are, by reference; only their depth is bounded.
 *  C5. Nothing is dropped silently: an unknown key with a value is in `unknown`, or a fault.
 *      Response-only keys are known and ignored, so that a record that was read can be sent back.
 *  C6. All faults of the types are told together, in the order of the input, up to
 *      `limits.fault.listedMax`. Only a RosterError is ever thrown.
 *  C7. "" in a choice that does not list it is the same as absent.
 */
import { AssertionError } from '../base/assert.ts';
import { parseDuration } from '../base/duration.ts';
import { instantFromMs, instantFromText, instantToMs } from '../base/instant.ts';
import { textOf } from '../language/hcl/convert.ts';
import { suggestion } from '../language/hcl/suggest.ts';
import { checkValues } from './check-values.ts';
import { type ErrorCode, type Fault, invalid } from './errors.ts';
import { limits } from './limits.ts';
import { below, faultAt, type Path, pointerOf, quote } from './path.ts';
import type { Immutable, Input, Type } from './schema.ts';
import { isResponseOnly, shapeOf, withoutNull } from './schema-shape.ts';

export interface DecodeOptions {
  /** How to treat unknown keys. Default `'report'`: they are returned. */
  readonly unknown?: 'report' | 'refuse';
  /** Whether `retry_join` matches `RetryJoin`. Default false. */
  readonly snakeCase?: boolean;
  /** Whether response-only properties are kept, as in a record that this program wrote. Default false. */
  readonly keepResponseOnly?: boolean;
  /** Whether bounds and choices are checked, too. Default true; `validateJob` checks those of jobs. */
  readonly checkValues?: boolean;
  /** The code of the error. Default `invalid-body`. */
  readonly code?: Extract<ErrorCode, 'invalid-body' | 'invalid-job'>;
  /** The path of `input` in the body, with which pointers begin: `['Job']`. */
  readonly at?: readonly (string | number)[];
}

export interface Decoded<S extends Type.TSchema> {
  readonly value: Input<Immutable<Type.Static<S>>>;
  /** JSON pointers of the unknown keys, as they were written. */
  readonly unknown: readonly string[];
}

interface Context {
  readonly faults: Fault[];
  readonly unknown: string[];
  readonly refuseUnknown: boolean;
  readonly snakeCase: boolean;
  readonly keepResponseOnly: boolean;
}

/** The decoded value; `undefined` when the value is absent or at fault. */
type Decoder = (value: unknown, parent: Path, key: string | number, context: Context) => unknown;

/**
 * Decodes the input by the schema.
 * @throws RosterError `invalid-body` (or the given code) with all faults
 */
export function decode<S extends Type.TSchema>(
  schema: S,
  input: unknown,
  options: DecodeOptions = {},
): Decoded<S> {
  const { faults, ...decoded } = decodeInPart(schema, input, options);
  if (faults.length > 0) throw invalid(options.code ?? 'invalid-body', faults);
  return decoded;
}

/**
 * Decodes for callers that tell these faults together with others. A faulty field is left out of the value,
 * and a faulty element leaves a hole in its list.
 * @throws RosterError if the input as a whole is at fault
 */
export function decodeInPart<S extends Type.TSchema>(
  schema: S,
  input: unknown,
  options: DecodeOptions = {},
): Decoded<S> & { readonly faults: readonly Fault[] } {
  const context: Context = {
    faults: [],
    unknown: [],
    refuseUnknown: options.unknown === 'refuse',
    snakeCase: options.snakeCase ?? false,
    keepResponseOnly: options.keepResponseOnly ?? false,
  };
  const path = below(null, ...(options.at ?? []));
  const value = decodeRoot(schema, input, path, context);
  if ((options.checkValues ?? true) && value !== undefined) {
    context.faults.push(...checkValues(schema, value, path));
  }
  if (value === undefined) throw invalid(options.code ?? 'invalid-body', context.faults);
  const { faults, unknown } = context;
  return { value: value as Decoded<S>['value'], unknown, faults };
}

function decodeRoot(schema: Type.TSchema, input: unknown, path: Path, context: Context): unknown {
  if (path !== null) {
    const value = decoderOf(schema)(input, path.parent, path.key, context);
    if (value === undefined && context.faults.length === 0) fault(context, path, 'is required');
    return value;
  }
  // The body itself has no key: it stands under a made-up key, which is cut off again.
  const shape = shapeOf(withoutNull(schema).schema);
  if (shape.kind === 'record') {
    if (isRecord(input)) return recordFields(schema, shape.properties)(input, null, context);
    fault(context, null, `must be an object, got ${describe(input)}`);
    return undefined;
  }
  if (shape.kind === 'list') {
    if (Array.isArray(input)) return listItems(decoderOf(shape.item), input, null, context);
    fault(context, null, `must be an array, got ${describe(input)}`);
    return undefined;
  }
  throw new AssertionError('only records and lists of them are decoded');
}

const decoders = new WeakMap<Type.TSchema, Decoder>();

function decoderOf(schema: Type.TSchema): Decoder {
  let decoder = decoders.get(schema);
  if (decoder === undefined) {
    decoder = compile(schema);
    decoders.set(schema, decoder);
  }
  return decoder;
}

function compile(outer: Type.TSchema): Decoder {
  const { schema, nullable } = withoutNull(outer);
  const decoder = compileShape(schema);
  const empty = nullable ? null : undefined;
  return (value, parent, key, context) =>
    value === null || value === undefined ? empty : decoder(value, parent, key, context);
}

function compileShape(schema: Type.TSchema): Decoder {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'string':
      if ('x-secret' in schema) return secretDecoder;
      if ('x-written' in schema) return writtenDecoder;
      return (value, parent, key, context) =>
        typeof value === 'string' ? value : mistyped('a string', value, { parent, key }, context);
    case 'boolean':
      return (value, parent, key, context) =>
        typeof value === 'boolean' ? value : mistyped('a boolean', value, { parent, key }, context);
    case 'number':
      if (shape.instant) return instantDecoder;
      return shape.whole ? wholeDecoder(shape.duration) : numberDecoder;
    case 'free':
      return freeDecoder;
    case 'list':
      return listDecoder(decoderOf(shape.item));
    case 'map':
      return mapDecoder(shape.value);
    case 'record': {
      const fields = recordFields(schema, shape.properties);
      return (value, parent, key, context) =>
        isRecord(value)
          ? fields(value, { parent, key }, context)
          : mistyped('an object', value, { parent, key }, context);
    }
  }
}

/** Errors do not repeat a secret, not even a number. */
const secretDecoder: Decoder = (value, parent, key, context) =>
  typeof value === 'string'
    ? value
    : fault(context, { parent, key }, 'must be a string, got something else');

/** As in a job file: `8080` and `"8080"` are the same text. */
const writtenDecoder: Decoder = (value, parent, key, context) =>
  ['string', 'number', 'boolean'].includes(typeof value)
    ? textOf(value as string | number | boolean)
    : mistyped('a string', value, { parent, key }, context);

const numberDecoder: Decoder = (value, parent, key, context) =>
  typeof value === 'number' && Number.isFinite(value)
    ? value
    : mistyped('a number', value, { parent, key }, context);

/** Instants are exact to the millisecond. */
const instantDecoder: Decoder = (given, parent, key, context) => {
  const value = typeof given === 'string' ? instantFromText(given) : given;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    return mistyped('an integer of Unix nanoseconds or RFC 3339', given, { parent, key }, context);
  }
  const inRange = value >= 0 && value <= lastInstant;
  if (inRange) return instantFromMs(instantToMs(value));
  return fault(context, { parent, key }, 'is no instant between the years 1970 and 9999');
};

const lastInstant = instantFromMs(Date.UTC(9999, 11, 31));

function wholeDecoder(duration: boolean): Decoder {
  const wanted = duration ? 'an integer of nanoseconds or a duration such as "30s"' : 'an integer';
  return (value, parent, key, context) => {
    if (typeof value === 'number') {
      if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
      const large = Number.isInteger(value) || !Number.isFinite(value);
      if (large) return fault(context, { parent, key }, 'is too large for an integer');
    } else if (duration && typeof value === 'string') {
      const nanoseconds = parseDuration(value);
      if (nanoseconds !== undefined) return nanoseconds === 0 ? 0 : nanoseconds;
      return fault(context, { parent, key }, `must be ${wanted}, got ${quote(value)}`);
    }
    return mistyped(wanted, value, { parent, key }, context);
  };
}

const freeDecoder: Decoder = (value, parent, key, context) =>
  isWithinDepth(value, limits.http.jsonDepthMax)
    ? value
    : fault(
        context,
        { parent, key },
        `is nested more than ${limits.http.jsonDepthMax} levels deep`,
      );

function listDecoder(item: Decoder): Decoder {
  return (value, parent, key, context) =>
    Array.isArray(value)
      ? listItems(item, value, { parent, key }, context)
      : mistyped('an array', value, { parent, key }, context);
}

function listItems(item: Decoder, values: readonly unknown[], path: Path, context: Context) {
  return values.map((one, index) =>
    // A faulty element leaves a hole, so that later faults still have the right index.
    one !== null && one !== undefined
      ? item(one, path, index, context)
      : fault(context, below(path, index), 'must not be null'),
  );
}

/** The caller's keys are kept as written. A map of free values or of plain text passes as it is. */
function mapDecoder(valueSchema: Type.TSchema): Decoder {
  const inner = withoutNull(valueSchema);
  const { kind } = shapeOf(inner.schema);
  const isWritten = 'x-written' in inner.schema;
  const byReference = !isWritten && (kind === 'free' || kind === 'string');
  const decoder = decoderOf(valueSchema);
  return (value, parent, key, context) => {
    if (!isRecord(value)) return mistyped('an object', value, { parent, key }, context);
    const path = { parent, key };
    const entries: [string, unknown][] = [];
    let lacksText = false;
    for (const name of Object.keys(value)) {
      const one = value[name];
      if (one === null && !inner.nullable && kind !== 'free') {
        fault(context, below(path, name), 'must not be null');
        if (kind === 'string') lacksText = true;
      } else {
        const decoded = decoder(one, path, name, context);
        if (decoded === undefined && kind === 'string') lacksText = true;
        else if (!byReference) entries.push([name, decoded]);
      }
    }
    if (byReference && !lacksText) return value;
    // fromEntries defines properties, so that "__proto__" is a name like any other.
    return Object.fromEntries(lacksText ? textsOf(value) : entries);
  };
}

const textsOf = (value: Record<string, unknown>) =>
  Object.entries(value).filter(([, one]) => typeof one === 'string');

interface Field {
  readonly name: string;
  readonly decoder: Decoder;
  readonly responseOnly: boolean;
  /** Whether "" counts as absent: it is no value of the choice. */
  readonly isEmptyAbsent: boolean;
}

type Fields = (value: Record<string, unknown>, path: Path, context: Context) => unknown;

function recordFields(
  schema: Type.TSchema,
  properties: Readonly<Record<string, Type.TSchema>>,
): Fields {
  const byKey = fieldTable(schema, properties);
  return (value, path, context) => {
    const decoded: Record<string, unknown> = {};
    let otherSpellings: Map<Field, string> | undefined;
    for (const key of Object.keys(value)) {
      const field = byKey.get(key) ?? byKey.get(fold(key, context.snakeCase));
      if (field === undefined) {
        if (holdsSomething(value[key])) noteUnknown(path, key, properties, context);
        continue;
      }
      if (key !== field.name) {
        // Two keys can name the same field only if one of them is not the schema's spelling.
        otherSpellings ??= new Map();
        const other = Object.hasOwn(value, field.name) ? field.name : otherSpellings.get(field);
        otherSpellings.set(field, key);
        if (other !== undefined) {
          fault(context, below(path, key), `is the same field as ${quote(other)}: give only one`);
          continue;
        }
      }
      if (field.responseOnly && !context.keepResponseOnly) continue;
      if (value[key] === '' && field.isEmptyAbsent) continue;
      const one = field.decoder(value[key], path, field.name, context);
      if (one !== undefined) decoded[field.name] = one;
    }
    return decoded;
  };
}

const fieldTables = new WeakMap<Type.TSchema, Map<string, Field>>();

/** The properties by name and by folded name. */
function fieldTable(
  schema: Type.TSchema,
  properties: Readonly<Record<string, Type.TSchema>>,
): Map<string, Field> {
  let table = fieldTables.get(schema);
  if (table !== undefined) return table;
  table = new Map();
  for (const [name, property] of Object.entries(properties)) {
    const field: Field = {
      name,
      decoder: decoderOf(property),
      responseOnly: isResponseOnly(property),
      isEmptyAbsent: isChoiceWithoutEmpty(property),
    };
    table.set(name, field);
    table.set(fold(name, false), field);
  }
  fieldTables.set(schema, table);
  return table;
}

function isChoiceWithoutEmpty(property: Type.TSchema): boolean {
  const shape = shapeOf(withoutNull(property).schema);
  return shape.kind === 'string' && shape.choices?.includes('') === false;
}

const fold = (key: string, snakeCase: boolean): string =>
  snakeCase ? key.replaceAll('_', '').toLowerCase() : key.toLowerCase();

/** Typed clients send every field that they know, also fields of other systems. */
const holdsSomething = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);

function noteUnknown(
  parent: Path,
  key: string,
  properties: Readonly<Record<string, Type.TSchema>>,
  context: Context,
): void {
  const path = below(parent, key);
  const { faults, unknown, refuseUnknown } = context;
  if ((refuseUnknown ? faults : unknown).length >= limits.fault.listedMax) return;
  if (!refuseUnknown) {
    unknown.push(pointerOf(path));
    return;
  }
  const known = Object.keys(properties).filter((name) => !isResponseOnly(properties[name]!));
  fault(context, path, `is not a known field${suggestion(key, known)}`);
}

function fault(context: Context, path: Path, message: string): undefined {
  if (context.faults.length < limits.fault.listedMax) context.faults.push(faultAt(path, message));
}

const mistyped = (wanted: string, value: unknown, path: Path, context: Context): undefined =>
  fault(context, path, `must be ${wanted}, got ${describe(value)}`);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return `the number ${value}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function isWithinDepth(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  for (const inner of Object.values(value)) if (!isWithinDepth(inner, levels - 1)) return false;
  return true;
}
