import fc from 'fast-check';
import type { FilterNode, Selector } from './syntax.ts';

/** Trees as text, random trees, and trees without places, for tests. */
export function print(node: FilterNode): string {
  switch (node.kind) {
    case 'or':
    case 'and':
      return `(${node.terms.map(print).join(` ${node.kind} `)})`;
    case 'not':
      return `not ${print(node.term)}`;
    case 'any':
    case 'all': {
      const body = print(node.body);
      return `${node.kind} ${printPath(node.selector)} as ${node.names.join(', ')} { ${body} }`;
    }
    case 'empty':
    case 'nil':
      return `${printPath(node.selector)} is ${node.negated ? 'not ' : ''}${node.kind}`;
    case 'match': {
      const path = printPath(node.selector);
      const value = JSON.stringify(node.value.text);
      if (node.operator === 'equal') return `${path} ${node.negated ? '!=' : '=='} ${value}`;
      const operator = `${node.negated ? 'not ' : ''}${node.operator}`;
      return node.operator === 'in'
        ? `${value} ${operator} ${path}`
        : `${path} ${operator} ${value}`;
    }
  }
}

function printPath({ path }: Selector): string {
  const [first, ...rest] = path;
  if (!/^[A-Za-z][\w/]*$/.test(first!)) {
    const pointer = path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    return JSON.stringify(pointer.join(''));
  }
  const steps = rest.map((part) =>
    /^([A-Za-z][\w/]*|[0-9]+)$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`,
  );
  return first + steps.join('');
}

const identifier = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_/]{0,6}$/);
const freeIdentifier = identifier.filter((name) => !/^(and|or|not|any|all)$/.test(name));
/** JSON's escapes are a subset of the language's, except for lone surrogates written as \uHHHH. */
const anyText = fc.string({ unit: 'grapheme' });
const anySelector: fc.Arbitrary<Selector> = fc
  .tuple(
    fc.oneof(freeIdentifier, fc.constant('a-b')),
    fc.array(fc.oneof(identifier, fc.nat().map(String), anyText), { maxLength: 4 }),
  )
  .map(([first, rest]) => ({ path: [first, ...rest], offsets: [] }));

const anyMatch: fc.Arbitrary<FilterNode> = fc.record({
  kind: fc.constant('match' as const),
  operator: fc.constantFrom(
    'equal' as const,
    'contains' as const,
    'in' as const,
    'matches' as const,
  ),
  negated: fc.boolean(),
  selector: anySelector,
  value: anyText.map((text) => ({ text, offset: 0 })),
});

const anyState: fc.Arbitrary<FilterNode> = fc.record({
  kind: fc.constantFrom('empty' as const, 'nil' as const),
  negated: fc.boolean(),
  selector: anySelector,
});

function treeOf(depth: number, collections: number): fc.Arbitrary<FilterNode> {
  if (depth === 0) return fc.oneof(anyMatch, anyState);
  const inner = treeOf(depth - 1, collections);
  const chain = fc.record({
    kind: fc.constantFrom('or' as const, 'and' as const),
    terms: fc.array(inner, { minLength: 2, maxLength: 4 }),
  });
  const negation = fc.record({ kind: fc.constant('not' as const), term: inner });
  const plain = fc.oneof(anyMatch, anyState, chain, negation);
  if (collections === 0) return plain;
  const names = fc
    .array(fc.oneof(freeIdentifier, fc.constant('_')), { minLength: 1, maxLength: 2 })
    .filter(([first, second]) => first !== second || first === '_');
  const collection = fc.record({
    kind: fc.constantFrom('any' as const, 'all' as const),
    selector: anySelector,
    names,
    body: treeOf(depth - 1, collections - 1),
  });
  // `any in as t {…}` would be read as a match: such a selector needs its pointer form.
  const named = collection.filter(
    ({ selector }) => !/^(in|not|is|contains|matches)$/.test(selector.path.join('.')),
  );
  return fc.oneof(plain, named);
}

export const anyNode: fc.Arbitrary<FilterNode> = treeOf(3, 2);

export const withoutOffsets = (node: FilterNode): unknown =>
  JSON.parse(
    JSON.stringify(node, (key, value) =>
      key === 'offset' || key === 'offsets' ? undefined : value,
    ),
  );
