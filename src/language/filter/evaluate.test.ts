import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileFilter, FilterError } from './filter.ts';
import type { FilterNode } from './syntax.ts';
import { print } from './tree.test-helper.ts';

/** The oracle: a slow evaluator that walks the tree and the record each time. */
const missing = Symbol('missing');
type Bindings = Readonly<Record<string, unknown>>;

function lookUp(path: readonly string[], bindings: Bindings): unknown {
  let at: unknown = bindings;
  path.forEach((part, depth) => {
    const parent = at as Record<string, unknown> | null | undefined | typeof missing;
    if (parent === missing) return;
    const has = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, part);
    const isDeclared = depth === 0 || path[depth - 1] === 'Sub' || path[depth - 1] === 'item';
    at = has ? parent[part] : isDeclared ? undefined : missing;
  });
  return at;
}

/** The type of a field by its name, as in the schema below. */
const zeros: Readonly<Record<string, unknown>> = {
  Text: '',
  Count: 0,
  On: false,
  text: '',
  count: 0,
};

function valueAt(path: readonly string[], bindings: Bindings): unknown {
  const value = lookUp(path, bindings);
  if (value !== undefined && value !== null) return value;
  if (path.length === 2 && path[0] === 'Map') return '';
  return zeros[path.at(-1)!] ?? null;
}

const isNil = (value: unknown) => value === missing || value == null;

function holds(node: FilterNode, bindings: Bindings): boolean {
  switch (node.kind) {
    case 'or':
      return node.terms.map((term) => holds(term, bindings)).includes(true);
    case 'and':
      return !node.terms.map((term) => holds(term, bindings)).includes(false);
    case 'not':
      return !holds(node.term, bindings);
    case 'empty':
      return isEmpty(valueAt(node.selector.path, bindings)) !== node.negated;
    case 'nil':
      return isNil(lookUp(node.selector.path, bindings)) !== node.negated;
    case 'any':
    case 'all': {
      const value = valueAt(node.selector.path, bindings);
      const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
      const answers = entries.map(([key, element]) => {
        const index = Array.isArray(value) ? Number(key) : key;
        const [first, second] = node.names as [string, string?];
        const single = Array.isArray(value) ? element : index;
        const bound =
          second === undefined ? { [first]: single } : { [first]: index, [second]: element };
        return holds(node.body, { ...bindings, ...bound });
      });
      return node.kind === 'any' ? answers.includes(true) : !answers.includes(false);
    }
    case 'match':
      return matches(node, valueAt(node.selector.path, bindings)) !== node.negated;
  }
}

function isEmpty(value: unknown): boolean {
  if (value === missing || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function matches(node: Extract<FilterNode, { kind: 'match' }>, value: unknown): boolean {
  const { text } = node.value;
  if (value === missing || value === null) return false;
  if (node.operator === 'equal') return String(value) === text;
  if (node.operator === 'matches') return new RegExp(text).test(String(value));
  if (typeof value === 'string') return value.includes(text);
  if (Array.isArray(value)) return value.some((element) => String(element) === text);
  return Object.keys(value as object).includes(text);
}

const nullable = (type: string): object => ({ anyOf: [{ type }, { type: 'null' }] });
const item = {
  type: 'object',
  properties: { text: nullable('string'), count: nullable('integer') },
};
const schema = {
  type: 'object',
  properties: {
    Text: nullable('string'),
    Count: nullable('integer'),
    On: nullable('boolean'),
    List: { type: ['array', 'null'], items: { type: 'string' } },
    Numbers: { type: 'array', items: { type: 'integer' } },
    Map: { type: 'object', additionalProperties: nullable('string') },
    Sub: {
      anyOf: [{ type: 'object', properties: { Text: { type: 'string' } } }, { type: 'null' }],
    },
    Items: { type: 'array', items: item },
  },
};

const word = fc.constantFrom('', 'a', 'b', 'ab', 'c');
const small = fc.integer({ min: -1, max: 2 });
const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value);
const anyRecord = fc.record(
  {
    Text: orNull(word),
    Count: orNull(small),
    On: orNull(fc.boolean()),
    List: orNull(fc.array(word, { maxLength: 3 })),
    Numbers: fc.array(small, { maxLength: 3 }),
    Map: orNull(fc.dictionary(word, orNull(word), { maxKeys: 3, noNullPrototype: true })),
    Sub: orNull(fc.record({ Text: word }, { requiredKeys: [], noNullPrototype: true })),
    Items: fc.array(
      fc.record(
        { text: orNull(word), count: orNull(small) },
        { requiredKeys: [], noNullPrototype: true },
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [], noNullPrototype: true },
);

type Operators = readonly Extract<FilterNode, { kind: 'match' }>['operator'][];
const kinds: readonly {
  readonly paths: readonly (readonly string[])[];
  readonly operators: Operators;
  readonly values: fc.Arbitrary<string>;
  readonly canBeEmpty: boolean;
}[] = [
  {
    paths: [['Text'], ['Map', 'a'], ['Map', ''], ['List', '0'], ['List', '2'], ['Sub', 'Text']],
    operators: ['equal', 'contains', 'in', 'matches'],
    values: word,
    canBeEmpty: true,
  },
  {
    paths: [['Count'], ['Numbers', '1']],
    operators: ['equal'],
    values: small.map(String),
    canBeEmpty: false,
  },
  { paths: [['On']], operators: ['equal'], values: fc.boolean().map(String), canBeEmpty: false },
  { paths: [['List'], ['Map']], operators: ['contains', 'in'], values: word, canBeEmpty: true },
  { paths: [['Numbers']], operators: ['in'], values: small.map(String), canBeEmpty: true },
];

const leaf = (kind: (typeof kinds)[number]): fc.Arbitrary<FilterNode> => {
  const selector = fc.constantFrom(...kind.paths).map((path) => ({ path, offsets: [] }));
  const match = fc.record({
    kind: fc.constant('match' as const),
    operator: fc.constantFrom(...kind.operators),
    negated: fc.boolean(),
    selector,
    value: kind.values.map((text) => ({ text, offset: 0 })),
  });
  const negated = fc.boolean();
  const states = kind.canBeEmpty ? (['empty', 'nil'] as const) : (['nil'] as const);
  return fc.oneof(match, fc.record({ kind: fc.constantFrom(...states), negated, selector }));
};

const at = (...path: string[]) => ({ path, offsets: [] });
const leaves = fc.oneof(...kinds.map(leaf));
const boundText = leaf({ ...kinds[0]!, paths: [['it']] });
const boundItem = fc.oneof(
  leaf({ ...kinds[0]!, paths: [['item', 'text']] }),
  leaf({ ...kinds[1]!, paths: [['item', 'count']] }),
);
const collections = fc.oneof(
  fc.tuple(fc.constant('List'), fc.constant(['it']), boundText),
  fc.tuple(fc.constant('List'), fc.constant(['i', 'it']), boundText),
  fc.tuple(fc.constant('Map'), fc.constant(['it']), boundText),
  fc.tuple(fc.constant('Map'), fc.constant(['it', '_']), boundText),
  fc.tuple(fc.constant('Numbers'), fc.constant(['i']), leaf({ ...kinds[1]!, paths: [['i']] })),
  fc.tuple(fc.constant('List'), fc.constant(['i', '_']), leaf({ ...kinds[1]!, paths: [['i']] })),
  fc.tuple(fc.constant('Items'), fc.constant(['item']), boundItem),
);
const quantified = fc
  .tuple(fc.constantFrom('any' as const, 'all' as const), collections, leaves, fc.boolean())
  .map(([kind, [field, names, inner], outer, both]): FilterNode => {
    const body: FilterNode = both ? { kind: 'or', terms: [inner, outer] } : inner;
    return { kind, selector: at(field), names, body };
  });

const anyFilter = fc.letrec<{ node: FilterNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(leaves, quantified),
    fc.record({
      kind: fc.constantFrom('or' as const, 'and' as const),
      terms: fc.array(tie('node'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('not' as const), term: tie('node') }),
  ),
})).node;

test('a filter answers like the slow evaluator', () => {
  fc.assert(
    fc.property(anyFilter, fc.array(anyRecord, { minLength: 1, maxLength: 5 }), (node, records) => {
      const text = print(node);
      const accepts = compileFilter(text, schema);
      for (const record of records) expect(accepts(record), text).toBe(holds(node, record));
    }),
    { numRuns: 3000 },
  );
});

test('any words compile or throw a FilterError, and the predicate never throws', () => {
  const words = fc.constantFrom(
    'Text',
    'Count',
    'List',
    'Map.a',
    'Items',
    'Items.0.text',
    'Sub',
    'it',
    '"/Map/x"',
    'x',
    '==',
    '!=',
    'in',
    'not',
    'contains',
    'matches',
    'is',
    'empty',
    'and',
    'or',
    '(',
    ')',
    'any',
    'all',
    'as',
    '{',
    '}',
    ',',
    '_',
    '5',
    'true',
    '"a+"',
    '`(`',
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 9 }), anyRecord, (parts, record) => {
      try {
        compileFilter(parts.join(' '), schema)(record);
      } catch (error) {
        expect(error).toBeInstanceOf(FilterError);
      }
    }),
    { numRuns: 2000 },
  );
});
