import fc from 'fast-check';
import type {
  HclBlock,
  HclBody,
  HclEntry,
  HclExpression,
  HclItem,
  HclLabel,
  HclTemplatePart,
} from './syntax.ts';

/** Nodes without places, which random trees do not have. */
type Bare<T> = T extends readonly (infer Item)[]
  ? readonly Bare<Item>[]
  : T extends object
    ? { readonly [Key in Exclude<keyof T, `${string}ange`>]: Bare<T[Key]> }
    : T;
export type BareExpression = Bare<HclExpression>;
type BarePart = Bare<HclTemplatePart>;
type BareItem = Bare<HclItem>;
export type BareBody = Bare<HclBody>;

/** The tree without places, for comparisons. */
export function withoutRanges<T>(node: T): Bare<T> {
  if (Array.isArray(node)) return node.map(withoutRanges) as Bare<T>;
  if (typeof node !== 'object' || node === null) return node as Bare<T>;
  const entries = Object.entries(node).filter(([key]) => !/range$/i.test(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutRanges(value)])) as Bare<T>;
}

const operators = ['||', '&&', '==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%'] as const;
const levels: Readonly<Record<string, number>> = Object.fromEntries(
  operators.map((operator, index) => [operator, [0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 5][index]!]),
);

// `for` begins a `for` expression at the start of brackets, and the other names are values.
const reserved = new Set(['for', 'true', 'false', 'null']);
const anyName = fc
  .oneof(
    { weight: 3, arbitrary: fc.constantFrom('a', 'b-c', '_d', 'é', 'if', 'in', 'else', 'x1') },
    fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,8}$/),
  )
  // Behind an index, such a name would be read as the exponent of a number.
  .filter((name) => !reserved.has(name) && !/^[eE][0-9-]/.test(name));
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('$', '%', '{', '}', '"', '\\', '\n', '~', 'a', ' ') }),
);
const anyLiteral: fc.Arbitrary<BareExpression> = fc
  .oneof(
    anyText,
    fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value || 0),
    fc.nat(),
    fc.boolean(),
    fc.constant(null),
  )
  .map((value) => ({ kind: 'literal', value }));
const anyVariable: fc.Arbitrary<BareExpression> = anyName.map((name) => ({
  kind: 'variable',
  name,
}));
const splatItem: BareExpression = { kind: 'splat-item' };

const primaries = new Set(['literal', 'template', 'variable', 'call', 'tuple', 'object', 'for']);
const isPostfix = ({ kind }: BareExpression): boolean =>
  primaries.has(kind) || kind === 'parentheses' || kind === 'get-attribute' || kind === 'index';
const parentheses = (inner: BareExpression): BareExpression => ({ kind: 'parentheses', inner });

/** The operand of a tight operator, in parentheses unless it is simple. `1.a` would be read otherwise. */
const tight = (node: BareExpression): BareExpression =>
  isPostfix(node) && node.kind !== 'literal' ? node : parentheses(node);
const levelOf = (node: BareExpression): number =>
  node.kind === 'conditional' ? -1 : node.kind === 'binary' ? levels[node.operator]! : 6;
const atLevel = (node: BareExpression, level: number): BareExpression =>
  levelOf(node) < level ? parentheses(node) : node;

type Inner = fc.Arbitrary<BareExpression>;

/** Random trees, by their parts. */
type Trees = {
  readonly expression: BareExpression;
  readonly parts: readonly BarePart[];
  readonly entry: Bare<HclEntry>;
};

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const loopOf = (inner: Inner) => ({
  keyName: optional(anyName),
  valueName: anyName,
  collection: inner,
});

function partsOf(
  inner: Inner,
  parts: fc.Arbitrary<readonly BarePart[]>,
): fc.Arbitrary<readonly BarePart[]> {
  const text: fc.Arbitrary<BarePart> = anyText
    .filter((value) => value !== '')
    .map((value) => ({ kind: 'text', text: value }));
  const sequence: fc.Arbitrary<BarePart> = fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constant('interpolation' as const), expression: inner }),
    fc.record({
      kind: fc.constant('if-directive' as const),
      condition: inner,
      whenTrue: parts,
      whenFalse: parts,
    }),
    fc.record({ kind: fc.constant('for-directive' as const), ...loopOf(inner), parts }),
  );
  return fc
    .array(fc.tuple(optional(text), sequence), { maxLength: 2 })
    .map((pairs) => pairs.flatMap(([before, after]) => (before ? [before, after] : [after])));
}

const forOf = (inner: Inner): Inner =>
  fc.record({ ...loopOf(inner), key: optional(inner), value: inner }).chain((fields) =>
    fc.record({ condition: optional(inner), grouped: fc.boolean() }).map(
      ({ condition, grouped }): BareExpression => ({
        kind: 'for',
        ...fields,
        condition,
        grouped: grouped && fields.key !== undefined,
      }),
    ),
  );

const callOf = (inner: Inner): Inner =>
  fc.tuple(anyName, fc.array(inner, { maxLength: 3 }), fc.boolean()).map(
    ([name, items, expanded]): BareExpression => ({
      kind: 'call',
      name,
      arguments: items,
      expanded: expanded && items.length > 0,
    }),
  );

const unaryOf = (inner: Inner): Inner =>
  fc.tuple(fc.constantFrom('-' as const, '!' as const), inner).map(
    ([operator, operand]): BareExpression => ({
      kind: 'unary',
      operator,
      operand: levelOf(operand) < 6 ? parentheses(operand) : operand,
    }),
  );

const binaryOf = (inner: Inner): Inner =>
  fc.tuple(fc.constantFrom(...operators), inner, inner).map(
    ([operator, left, right]): BareExpression => ({
      kind: 'binary',
      operator,
      left: atLevel(left, levels[operator]!),
      right: atLevel(right, levels[operator]! + 1),
    }),
  );

const conditionalOf = (inner: Inner): Inner =>
  fc.tuple(inner, inner, inner).map(
    ([condition, whenTrue, whenFalse]): BareExpression => ({
      kind: 'conditional',
      condition: atLevel(condition, 0),
      whenTrue,
      whenFalse,
    }),
  );

/** A splat takes all steps that follow, so steps behind it need parentheses. */
const splatOf = (inner: Inner): Inner =>
  fc.tuple(inner, fc.array(fc.oneof(anyName, inner), { maxLength: 3 })).map(
    ([of, steps]): BareExpression => ({
      kind: 'splat',
      style: 'full',
      of: tight(of),
      item: chain(splatItem, steps),
    }),
  );

const attributeSplatOf = (inner: Inner): Inner =>
  fc
    .tuple(inner, fc.array(fc.tuple(anyName, fc.option(fc.nat({ max: 99 }))), { maxLength: 2 }))
    .map(
      ([of, steps]): BareExpression => ({
        kind: 'splat',
        style: 'attribute',
        of: tight(of),
        // Two indexes after each other would be read as one number.
        item: chain(
          splatItem,
          steps.flatMap(([name, index]) =>
            index === null ? [name] : [name, { kind: 'literal', value: index }],
          ),
        ),
      }),
    );

export const anyExpression: fc.Arbitrary<BareExpression> = fc.letrec<Trees>((tie) => {
  const inner = tie('expression');
  return {
    parts: partsOf(inner, tie('parts')),
    entry: fc.record({
      kind: fc.constant('entry' as const),
      key: fc.oneof(
        anyText.map((value): BareExpression => ({ kind: 'literal', value })),
        inner.map(parentheses),
      ),
      value: inner,
      isBlock: fc.constant(false),
    }),
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      anyLiteral,
      anyVariable,
      fc
        .tuple(inner, fc.array(fc.oneof(anyName, inner), { maxLength: 3 }))
        .map(([from, steps]) => chain(tight(from), steps)),
      inner.map(parentheses),
      fc.array(inner, { maxLength: 3 }).map((items): BareExpression => ({ kind: 'tuple', items })),
      fc
        .array(tie('entry'), { maxLength: 3 })
        .map((entries): BareExpression => ({ kind: 'object', entries })),
      forOf(inner),
      callOf(inner),
      unaryOf(inner),
      binaryOf(inner),
      conditionalOf(inner),
      splatOf(inner),
      attributeSplatOf(inner),
      tie('parts')
        .filter((parts) => parts.length > 0)
        .map((parts): BareExpression => ({ kind: 'template', parts })),
    ),
  };
}).expression;

function chain(from: BareExpression, steps: readonly (string | BareExpression)[]): BareExpression {
  return steps.reduce<BareExpression>(
    (of, step) =>
      typeof step === 'string'
        ? { kind: 'get-attribute', of, name: step }
        : { kind: 'index', of, key: step },
    from,
  );
}

export const anyBody: fc.Arbitrary<BareBody> = fc.letrec<{ body: BareBody }>((tie) => {
  const attribute = fc.record({
    kind: fc.constant('attribute' as const),
    name: anyName,
    value: anyExpression,
  });
  const label: fc.Arbitrary<Bare<HclLabel>> = fc.oneof(
    anyText.map((text) => ({ kind: 'label' as const, text, quoted: true })),
    anyName.map((text) => ({ kind: 'label' as const, text, quoted: false })),
  );
  const block: fc.Arbitrary<Bare<HclBlock>> = fc.record({
    kind: fc.constant('block' as const),
    type: anyName,
    labels: fc.array(label, { maxLength: 2 }),
    body: tie('body'),
  });
  const item: fc.Arbitrary<BareItem> = fc.oneof({ depthSize: 'small' }, attribute, block);
  return {
    body: fc
      .uniqueArray(item, {
        maxLength: 4,
        comparator: (left, right) =>
          left.kind === 'attribute' && right.kind === 'attribute' && left.name === right.name,
      })
      .map((items) => ({ kind: 'body' as const, items })),
  };
}).body;

export function printBody({ items }: BareBody, indentation = ''): string {
  return items
    .map((item) => {
      if (item.kind === 'attribute') return `${indentation}${item.name} = ${print(item.value)}\n`;
      const labels = item.labels.map(({ text, quoted }) => (quoted ? quote(text) : text));
      const inner = printBody(item.body, `${indentation}  `);
      return `${indentation}${[item.type, ...labels].join(' ')} {\n${inner}${indentation}}\n`;
    })
    .join('');
}

export function print(node: BareExpression): string {
  switch (node.kind) {
    case 'literal':
      return typeof node.value === 'string' ? quote(node.value) : String(node.value);
    case 'template':
      return `"${printParts(node.parts)}"`;
    case 'variable':
      return node.name;
    case 'get-attribute':
      return `${print(node.of)}.${node.name}`;
    case 'index':
      return `${print(node.of)}[${print(node.key)}]`;
    case 'splat':
      return node.style === 'full'
        ? `${print(node.of)}[*]${print(node.item)}`
        : `${print(node.of)}.*${printAttributeSteps(node.item)}`;
    case 'splat-item':
      return '';
    case 'tuple':
      return `[${node.items.map(print).join(', ')}]`;
    case 'object':
      return `{ ${node.entries.map(({ key, value }) => `${print(key)} = ${print(value)}`).join(', ')} }`;
    case 'for':
      return printFor(node);
    case 'call':
      return `${node.name}(${node.arguments.map(print).join(', ')}${node.expanded ? '...' : ''})`;
    case 'unary':
      return `${node.operator}${print(node.operand)}`;
    case 'binary':
      return `${print(node.left)} ${node.operator} ${print(node.right)}`;
    case 'conditional':
      return `${print(node.condition)} ? ${print(node.whenTrue)} : ${print(node.whenFalse)}`;
    case 'parentheses':
      return `(${print(node.inner)})`;
  }
}

function printFor(node: Extract<BareExpression, { kind: 'for' }>): string {
  const intro = `for ${printNames(node)} in ${print(node.collection)} :`;
  const condition = node.condition === undefined ? '' : ` if ${print(node.condition)}`;
  const value = print(node.value);
  if (node.key === undefined) return `[${intro} ${value}${condition}]`;
  return `{${intro} ${print(node.key)} => ${value}${node.grouped ? '...' : ''}${condition}}`;
}

const printNames = ({
  keyName,
  valueName,
}: {
  readonly keyName: string | undefined;
  readonly valueName: string;
}): string => (keyName === undefined ? valueName : `${keyName}, ${valueName}`);

function printAttributeSteps(item: BareExpression): string {
  if (item.kind === 'get-attribute') return `${printAttributeSteps(item.of)}.${item.name}`;
  if (item.kind === 'index') return `${printAttributeSteps(item.of)}.${print(item.key)}`;
  return '';
}

const printParts = (parts: readonly BarePart[]): string => parts.map(printPart).join('');

function printPart(part: BarePart): string {
  switch (part.kind) {
    case 'text':
      return quote(part.text).slice(1, -1);
    case 'interpolation':
      return `\${ ${print(part.expression)} }`;
    case 'if-directive': {
      const otherwise = part.whenFalse.length > 0 ? `%{ else }${printParts(part.whenFalse)}` : '';
      return `%{ if ${print(part.condition)} }${printParts(part.whenTrue)}${otherwise}%{ endif }`;
    }
    case 'for-directive': {
      const intro = `for ${printNames(part)} in ${print(part.collection)}`;
      return `%{ ${intro} }${printParts(part.parts)}%{ endfor }`;
    }
  }
}

/** Writes `$` and `%` as code points where they could begin a sequence. */
export function quote(text: string): string {
  const escaped = text
    .replace(/["\\]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replace(/[$%](?![A-Za-z ])/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  return `"${escaped}"`;
}
