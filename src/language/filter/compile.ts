import { FilterError, nearestNames } from './errors.ts';
import {
  absent,
  elementTest,
  emptyTest,
  fits,
  isNothing,
  type Test,
  valueTest,
} from './operators.ts';
import { describeType, type FieldType, fieldType, type JsonSchema } from './schema.ts';
import type { FilterNode, Selector } from './syntax.ts';

/**
 * Compiles a filter's tree to closures. All work that depends only on the expression and the schema is done
 * here: looking up paths, reading literals, building patterns. A record then costs a few calls.
 */
export type Predicate = (record: unknown) => boolean;

/** Gets the selected value of a record; `absent` if a map or a list lacks it. */
type Getter = (record: unknown) => unknown;

interface Typed {
  readonly type: FieldType;
  readonly get: Getter;
}

interface Context {
  readonly expression: string;
  readonly schema: JsonSchema;
  /** Free content of a type that the operator does not take is a fault of the record, not just no match. */
  readonly isStrict: boolean;
  /** Names bound by `any` and `all`, the innermost name last. */
  readonly names: ReadonlyMap<string, Typed>;
  /** The bound values while a record is evaluated. */
  readonly slots: unknown[];
}

export function compileNode(
  node: FilterNode,
  expression: string,
  schema: JsonSchema,
  isStrict: boolean,
): Predicate {
  return compile(node, { expression, schema, isStrict, names: new Map(), slots: [] });
}

function compile(node: FilterNode, context: Context): Predicate {
  switch (node.kind) {
    case 'or':
      return some(node.terms.map((term) => compile(term, context)));
    case 'and':
      return every(node.terms.map((term) => compile(term, context)));
    case 'not':
      return inverted(compile(node.term, context));
    case 'any':
    case 'all':
      return collection(node, context);
    case 'empty': {
      const field = select(node.selector, context);
      const test = emptyTest(field.type) ?? refuse('is empty', node.selector, field.type, context);
      return signed(checked(field, 'is empty', node.selector, context), test, node.negated);
    }
    case 'nil':
      return signed(select(node.selector, context).get, isNothing, node.negated);
    case 'match':
      return matching(node, context);
  }
}

function matching(node: Extract<FilterNode, { kind: 'match' }>, context: Context): Predicate {
  const field = select(node.selector, context);
  const { type } = field;
  const { text, offset } = node.value;
  const built =
    node.operator === 'contains' || node.operator === 'in'
      ? elementTest(type, text, context.schema)
      : valueTest(type, node.operator, text);
  const operator = node.operator === 'equal' ? '==' : node.operator;
  if (built === undefined) return refuse(operator, node.selector, type, context);
  if (typeof built === 'string') throw new FilterError(built, context.expression, offset);
  return signed(checked(field, operator, node.selector, context), built, node.negated);
}

/** The getter of the field. In a strict filter it refuses free content that the operator does not take. */
function checked(
  { get, type }: Typed,
  operator: string,
  selector: Selector,
  context: Context,
): Getter {
  if (!context.isStrict || type.kind !== 'any') return get;
  return (record) => {
    const value = get(record);
    if (fits(operator, value)) return value;
    const found = Array.isArray(value) ? 'list' : typeof value;
    const sentence = `"${operator}" cannot be used on ${written(selector, selector.path.length)}, where a value of type ${found} stands`;
    throw misplaced(sentence, selector, 0, context);
  };
}

const signed = (get: Getter, test: Test, negated: boolean): Predicate =>
  negated ? (record) => !test(get(record)) : (record) => test(get(record));

const inverted =
  (predicate: Predicate): Predicate =>
  (record) =>
    !predicate(record);

function some(terms: readonly Predicate[]): Predicate {
  const [first, second] = terms as [Predicate, Predicate];
  if (terms.length === 2) return (record) => first(record) || second(record);
  return (record) => {
    for (const term of terms) if (term(record)) return true;
    return false;
  };
}

function every(terms: readonly Predicate[]): Predicate {
  const [first, second] = terms as [Predicate, Predicate];
  if (terms.length === 2) return (record) => first(record) && second(record);
  return (record) => {
    for (const term of terms) if (!term(record)) return false;
    return true;
  };
}

function collection(
  node: Extract<FilterNode, { kind: 'any' | 'all' }>,
  context: Context,
): Predicate {
  const { type, get } = select(node.selector, context);
  const isMap = type.kind === 'object' && type.rest !== undefined;
  if (!isMap && type.kind !== 'list' && type.kind !== 'any') {
    return refuse(node.kind, node.selector, type, context);
  }
  const { slots } = context;
  const slot = slots.push(undefined, undefined) - 2;
  const names = bind(node.names, type, slot, context);
  const body = compile(node.body, { ...context, names });
  // The first element that passes decides `any`; the first element that does not pass decides `all`.
  const decisive = node.kind === 'any';
  const visit = (key: unknown, value: unknown, record: unknown): boolean => {
    slots[slot] = key;
    slots[slot + 1] = value;
    return body(record) === decisive;
  };
  return (record) => {
    const held = get(record);
    let decided = false;
    if (type.kind !== 'object' && Array.isArray(held)) {
      for (let i = 0; i < held.length && !decided; i++) decided = visit(i, held[i], record);
    } else if (type.kind !== 'list' && isObject(held) && !Array.isArray(held)) {
      for (const key of Object.keys(held)) {
        decided = visit(key, held[key], record);
        if (decided) break;
      }
    }
    // Otherwise the filter would keep the record alive.
    slots[slot + 1] = undefined;
    return decided === decisive;
  };
}

/** A single name is bound to the element of a list or the key of a map; two names, to index or key, and value. */
function bind(
  names: readonly string[],
  type: FieldType,
  slot: number,
  context: Context,
): ReadonlyMap<string, Typed> {
  const { slots } = context;
  const key: Typed = { type: keyType(type), get: () => slots[slot] };
  const value: Typed = {
    type: fieldType(elementSchema(type), context.schema),
    get: () => slots[slot + 1],
  };
  const bound = new Map(context.names);
  const [first, second] = names as [string, string?];
  if (second !== undefined) {
    bound.set(first, key).set(second, value);
  } else if (type.kind === 'any') {
    // Only the evaluation shows whether it is a list. Only the index of a list is a number.
    const get: Getter = () => (typeof slots[slot] === 'number' ? slots[slot + 1] : slots[slot]);
    bound.set(first, { type, get });
  } else {
    bound.set(first, type.kind === 'list' ? value : key);
  }
  // `_` binds nothing, so that no selector can start with it.
  bound.delete('_');
  return bound;
}

function keyType(type: FieldType): FieldType {
  if (type.kind === 'any') return type;
  return { kind: type.kind === 'list' ? 'integer' : 'string' };
}

function elementSchema(type: FieldType): JsonSchema {
  if (type.kind === 'list') return type.items;
  if (type.kind !== 'object') return true;
  const declared = [...type.fields.values()];
  return declared.length === 0 ? type.rest! : { anyOf: [...declared, type.rest!] };
}

/** The type and getter of the selected value. Throws at the first unknown part. */
function select(selector: Selector, context: Context): Typed {
  const bound = context.names.get(selector.path[0]!);
  let at: Typed = bound ?? { type: fieldType(context.schema, context.schema), get: (it) => it };
  for (let index = bound ? 1 : 0; index < selector.path.length; index++) {
    at = step(at, selector, index, context);
  }
  return at;
}

function step(at: Typed, selector: Selector, index: number, context: Context): Typed {
  const name = selector.path[index]!;
  const { type, get } = at;
  if (type.kind === 'any') return { type, get: freeGetter(get, name) };
  if (type.kind === 'list') {
    if (!indexForm.test(name)) {
      const kind = describeType(type, context.schema);
      const hint = 'select an element by its index, or use any or all';
      const found = `Expected an index, found ${JSON.stringify(name)}`;
      throw misplaced(
        `${found}: ${written(selector, index)} is ${kind}; ${hint}`,
        selector,
        index,
        context,
      );
    }
    const items = fieldType(type.items, context.schema);
    return { type: items, get: indexGetter(get, Number(name)) };
  }
  if (type.kind !== 'object') {
    const kind = describeType(type, context.schema);
    const sentence = `${written(selector, index)} is ${kind} and has no field ${JSON.stringify(name)}`;
    throw misplaced(sentence, selector, index, context);
  }
  const declared = type.fields.get(name);
  if (declared !== undefined) {
    return { type: fieldType(declared, context.schema), get: fieldGetter(get, name, index === 0) };
  }
  if (type.rest === undefined) throw unknown(type, selector, index, context);
  return { type: fieldType(type.rest, context.schema), get: keyGetter(get, name) };
}

/** Nine digits count the elements of any list. */
const indexForm = /^(0|[1-9][0-9]{0,8})$/;

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Gets a declared field. A missing or null field reads as its zero value, unless its parent is absent. */
function fieldGetter(get: Getter, name: string, isRoot: boolean): Getter {
  if (isRoot) return (record) => (record as Fields | null | undefined)?.[name];
  return (record) => {
    const parent = get(record);
    if (isObject(parent)) return parent[name];
    return parent === absent ? absent : undefined;
  };
}

/** Gets the value of a map's key. */
const keyGetter =
  (get: Getter, name: string): Getter =>
  (record) => {
    const parent = get(record);
    return isObject(parent) && Object.hasOwn(parent, name) ? parent[name] : absent;
  };

const indexGetter =
  (get: Getter, index: number): Getter =>
  (record) => {
    const parent = get(record);
    return Array.isArray(parent) && index < parent.length ? parent[index] : absent;
  };

/** Gets a part of free content. A number selects from a list or an object; `length` is no key of a list. */
function freeGetter(get: Getter, name: string): Getter {
  const isIndex = indexForm.test(name);
  return (record) => {
    const parent = get(record);
    if (!isObject(parent) || (Array.isArray(parent) && !isIndex)) return absent;
    return Object.hasOwn(parent, name) ? parent[name] : absent;
  };
}

/** The selector before the part at `index`, for messages. */
const written = (selector: Selector, index: number): string =>
  JSON.stringify(selector.path.slice(0, index).join('.'));

function unknown(
  type: Extract<FieldType, { kind: 'object' }>,
  selector: Selector,
  index: number,
  context: Context,
): FilterError {
  const name = selector.path[index]!;
  const names = [...type.fields.keys(), ...(index === 0 ? context.names.keys() : [])];
  const nearest = nearestNames(name, names);
  const quoted = nearest.map((one) => JSON.stringify(one)).join(', ');
  const hint = nearest.length > 0 ? `; did you mean ${quoted}?` : '';
  const where = index === 0 ? '' : ` in ${written(selector, index)}`;
  const sentence = `There is no field ${JSON.stringify(name)}${where}${hint}`;
  return misplaced(sentence, selector, index, context);
}

const misplaced = (
  sentence: string,
  selector: Selector,
  index: number,
  context: Context,
): FilterError => new FilterError(sentence, context.expression, selector.offsets[index]!);

function refuse(operator: string, selector: Selector, type: FieldType, context: Context): never {
  const name = written(selector, selector.path.length);
  const kind = describeType(type, context.schema);
  throw misplaced(
    `"${operator}" cannot be used on ${name}, which is ${kind}`,
    selector,
    0,
    context,
  );
}
