/** Compares evaluation with JavaScript, over random expressions and values. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileSearch } from '../filter/regex/search.ts';
import { HclError } from './errors.ts';
import { plainOfText, valueOfText } from './evaluation.test-helper.ts';
import { identityOf, objectOf, type Value } from './value.ts';

interface Tree {
  readonly text: string;
  /** `undefined` for a division by zero. */
  readonly value: number | boolean | undefined;
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** Small whole numbers, so that JavaScript's arithmetic is exact. */
const { number, bool } = fc.letrec<{ number: Tree; bool: Tree }>((tie) => {
  const binary = (
    operand: fc.Arbitrary<Tree>,
    operators: Readonly<Record<string, (left: never, right: never) => number | boolean>>,
  ) =>
    fc
      .tuple(operand, fc.constantFrom(...Object.keys(operators)), operand)
      .map(([left, operator, right]): Tree => {
        const calculate = operators[operator]! as (left: unknown, right: unknown) => number;
        const isZero = (operator === '/' || operator === '%') && right.value === 0;
        const known = left.value !== undefined && right.value !== undefined && !isZero;
        return {
          text: `(${left.text} ${operator} ${right.text})`,
          value: known ? calculate(left.value, right.value) : undefined,
        };
      });
  return {
    number: fc.oneof(
      { maxDepth: 4 },
      fc.integer({ min: 0, max: 99 }).map((value): Tree => ({ text: String(value), value })),
      binary(tie('number'), {
        '+': (left: number, right: number) => left + right,
        '-': (left: number, right: number) => left - right,
        '*': (left: number, right: number) => left * right,
        '%': (left: number, right: number) => left % right || 0,
      }),
      tie('number').map(({ text, value }) => ({
        text: `-${text}`,
        value: isNumber(value) ? -value || 0 : undefined,
      })),
      fc.tuple(tie('bool'), tie('number'), tie('number')).map(([condition, one, other]) => ({
        text: `(${condition.text} ? ${one.text} : ${other.text})`,
        value: condition.value === undefined ? undefined : (condition.value ? one : other).value,
      })),
    ),
    bool: fc.oneof(
      { maxDepth: 4 },
      fc.boolean().map((value): Tree => ({ text: String(value), value })),
      binary(tie('number'), {
        '<': (left: number, right: number) => left < right,
        '<=': (left: number, right: number) => left <= right,
        '>': (left: number, right: number) => left > right,
        '>=': (left: number, right: number) => left >= right,
        '==': (left: number, right: number) => left === right,
        '!=': (left: number, right: number) => left !== right,
      }),
      fc.tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool')).map(
        ([left, operator, right]): Tree => ({
          text: `(${left.text} ${operator} ${right.text})`,
          value:
            left.value === undefined
              ? undefined
              : (operator === '&&') === left.value
                ? right.value
                : left.value,
        }),
      ),
      tie('bool').map(({ text, value }) => ({
        text: `!${text}`,
        value: value === undefined ? undefined : !value,
      })),
    ),
  };
});

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('', '__proto__'),
);
const anyValue = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Value>(null, true, false),
    fc
      .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }))
      .map((value) => value || 0),
    anyText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(anyText, tie('value')), { maxLength: 4 }).map(objectOf),
  ),
})).value;

/** A value as an expression of HCL2. */
function written(value: Value): string {
  if (typeof value === 'string') {
    return JSON.stringify(value)
      .replace(/[$%](?=\{)/g, '$&$&')
      .replace(/\\[bf]/g, (sign) => (sign === '\\b' ? '\\u0008' : '\\u000c'));
  }
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([key, member]) => `(${written(key)}) = ${written(member)}`)
    .join(', ')}}`;
}

function same(found: Value, wanted: Value): void {
  expect(identityOf(found)).toBe(identityOf(wanted));
}

describe('operators', () => {
  test.each([
    ['numbers', number],
    ['bools', bool],
  ] as const)('%s', (_, trees) => {
    fc.assert(
      fc.property(trees, ({ text, value }) => {
        if (value === undefined) expect(() => valueOfText(text)).toThrow('Division by zero');
        else if (!isNumber(value) || Number.isSafeInteger(value)) same(valueOfText(text), value);
      }),
      { numRuns: 500 },
    );
  });

  test('fractions are added and multiplied exactly', () => {
    const cents = fc.integer({ min: -1e6, max: 1e6 });
    fc.assert(
      fc.property(cents, cents, (one, other) => {
        const [left, right] = [one, other].map((value) => `(${value / 100})`);
        same(valueOfText(`${left} + ${right}`), (one + other) / 100 || 0);
        same(valueOfText(`${left} - ${right}`), (one - other) / 100 || 0);
        same(valueOfText(`${left} * ${right}`), Number(`${BigInt(one) * BigInt(other)}e-4`) || 0);
        if (other !== 0) same(valueOfText(`${left} / ${right}`), one / other || 0);
      }),
    );
  });
});

describe('values', () => {
  test('equal the written values', () => {
    fc.assert(fc.property(anyValue, (value) => same(valueOfText(written(value)), value)));
  });

  test('equal themselves, and other values that are the same', () => {
    fc.assert(
      fc.property(anyValue, anyValue, (one, other) => {
        expect(valueOfText(`${written(one)} == ${written(one)}`)).toBe(true);
        expect(valueOfText(`${written(one)} == ${written(other)}`)).toBe(
          identityOf(one) === identityOf(other),
        );
      }),
    );
  });

  test.each(['json', 'yaml'])('come back from %s', (form) => {
    fc.assert(
      fc.property(anyValue, (value) =>
        same(valueOfText(`${form}decode(${form}encode(${written(value)}))`), value),
      ),
    );
  });

  test('come back from text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        same(valueOfText(`base64decode(base64encode(${written(text)}))`), text);
        same(valueOfText(`strrev(strrev(${written(text)}))`), text);
        same(valueOfText(`join("-", split("-", ${written(text)}))`), text);
        same(valueOfText(`"<\${${written(text)}}>"`), `<${text}>`);
      }),
    );
  });
});

describe('loops', () => {
  const numbers = fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 20 });

  test('are map and filter', () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: -50, max: 50 }), (list, bound) => {
        const text = `[for i, x in ${written(list)}: x * 2 + i if x > ${bound}]`;
        const wanted = list.flatMap((x, i) => (x > bound ? [x * 2 + i] : []));
        same(valueOfText(text), wanted);
      }),
    );
  });

  test('group by key', () => {
    fc.assert(
      fc.property(numbers, (list) => {
        const groups = Object.entries(Object.groupBy(list, (x) => String(x % 3 || 0)));
        same(
          valueOfText(`{for x in ${written(list)}: x % 3 => x...}`),
          objectOf(groups as [string, number[]][]),
        );
      }),
    );
  });

  test('in templates are joined', () => {
    fc.assert(
      fc.property(numbers, (list) => {
        const text = `"%{ for x in ${written(list)} }%{ if x > 0 }+\${x}%{ else }_%{ endif }%{ endfor }"`;
        same(valueOfText(text), list.map((x) => (x > 0 ? `+${x}` : '_')).join(''));
      }),
    );
  });
});

describe('sets and lists', () => {
  const few = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 6 });

  test('are combined as sets are', () => {
    fc.assert(
      fc.property(few, few, (one, other) => {
        const [left, right] = [written(one), written(other)];
        const sorted = (items: Iterable<string>) => [...new Set(items)].sort();
        const is = (name: string, wanted: readonly string[]) =>
          expect(plainOfText(`${name}(${left}, ${right})`)).toEqual(wanted);
        is('setunion', sorted([...one, ...other]));
        is('setintersection', sorted(one.filter((item) => other.includes(item))));
        is('setsubtract', sorted(one.filter((item) => !other.includes(item))));
        expect(plainOfText(`distinct(${left})`)).toEqual([...new Set(one)]);
        expect(plainOfText(`sort(concat(${left}, ${right}))`)).toEqual([...one, ...other].sort());
      }),
    );
  });
});

describe('patterns', () => {
  /** Without repetitions of parts that may be empty, whose groups differ between dialects. */
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\b', 'ab');
  const piece = fc
    .tuple(atom, fc.constantFrom('', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}?'))
    .map(([one, repeat]) => (one === '\\b' ? one : `(?:${one})${repeat}`));
  const pattern = fc
    .array(
      fc.array(
        fc.oneof(
          piece,
          piece.map((one) => `(${one})`),
        ),
        { minLength: 1, maxLength: 3 },
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((alternatives) => alternatives.map((one) => one.join('')).join('|'));

  test('find the same matches as a backtracking engine', () => {
    fc.assert(
      fc.property(
        pattern,
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 10 }),
        (source, text) => {
          const theirs = new RegExp(source, 'ud').exec(text);
          const ours = compileSearch(source).next(text, 0, () => {});
          const spans = theirs?.indices?.map((span) => span ?? null);
          const found =
            ours && [ours, ...ours.groups].map((span) => (span ? [span.start, span.end] : null));
          expect(found).toEqual(spans);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

test('any text is a value or an error with a place', () => {
  const pieces = [
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    '"',
    '${',
    '%{',
    '1',
    '-1',
    '"a"',
    'null',
    'true',
    'var',
    '.names',
    '[*]',
    '.*.',
    '.0',
    'for x in',
    ':',
    '=>',
    'x',
    'if',
    '...',
    ',',
    '+',
    '*',
    '/',
    '==',
    '?',
    '&&',
    'try(',
    'range(',
    'merge(',
    'format(',
    'flatten(',
    'tolist(',
    'regex(',
    'yamldecode(',
    'cidrsubnet(',
    'toset(',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (some) => {
      try {
        valueOfText(some.join(' '));
      } catch (error) {
        if (!(error instanceof HclError)) throw error;
        expect(error.line).toBeGreaterThan(0);
      }
    }),
    { numRuns: 3_000 },
  );
});
