import type { ParseExpression } from './collection.ts';
import { numberOf } from './lexer.ts';
import type { Reader } from './reader.ts';
import type { HclExpression } from './syntax.ts';

/** Reads the steps after a value: `.name`, `.0`, `[key]`, and the splats `.*` and `[*]`. */
export function parsePostfix(
  reader: Reader,
  from: HclExpression,
  parse: ParseExpression,
): HclExpression {
  const start = from.range.start.offset;
  let value = from;
  for (;;) {
    if (reader.take('.')) {
      value = reader.at('*') ? attributeSplat(reader, value) : step(reader, value, start);
    } else if (reader.at('[')) {
      const opened = reader.next();
      if (reader.at('*')) return fullSplat(reader, value, parse, opened.offset);
      value = index(reader, value, parse, opened.offset);
    } else {
      return value;
    }
  }
}

/** Reads `.name`, or `.0`, the older form of `[0]`. */
function step(reader: Reader, of: HclExpression, start: number): HclExpression {
  const token = reader.peek();
  if (token.kind === 'name') {
    reader.next();
    return { kind: 'get-attribute', of, name: token.text, range: reader.range(start) };
  }
  if (token.kind !== 'number') throw reader.expected('a name after "."');
  if (token.text.includes('.')) {
    const hint = 'write the indexes in brackets';
    throw reader.error(`"${token.text.slice(0, 40)}" is not one index; ${hint}`, token.offset);
  }
  reader.next();
  const value = numberOf(token.text);
  if (value === undefined) throw reader.error('This index is too large', token.offset);
  const key = { kind: 'literal', value, range: reader.range(token.offset) } as const;
  return { kind: 'index', of, key, range: reader.range(start) };
}

function index(
  reader: Reader,
  of: HclExpression,
  parse: ParseExpression,
  opened: number,
): HclExpression {
  const start = of.range.start.offset;
  return reader.withNewlines(false, () => {
    const key = parse(reader);
    if (reader.peek().kind === 'end') throw reader.error('This "[" is not closed by "]"', opened);
    reader.expect(']');
    return { kind: 'index', of, key, range: reader.range(start) };
  });
}

/** Reads the names that follow. An index after them applies to the whole list. */
function attributeSplat(reader: Reader, of: HclExpression): HclExpression {
  const star = reader.next();
  const start = of.range.start.offset;
  let item: HclExpression = { kind: 'splat-item', range: reader.range(star.offset) };
  while (reader.take('.')) {
    if (reader.at('*')) throw reader.expected('a name: ".*" cannot be used within another one');
    item = step(reader, item, star.offset);
  }
  return { kind: 'splat', style: 'attribute', of, item, range: reader.range(start) };
}

/** Reads all steps that follow, with further splats. */
function fullSplat(
  reader: Reader,
  of: HclExpression,
  parse: ParseExpression,
  opened: number,
): HclExpression {
  reader.next();
  reader.expect(']', '"]" after "*"');
  const first: HclExpression = { kind: 'splat-item', range: reader.range(opened) };
  // Splats after splats are nested, each a level deeper.
  const item = reader.nested(opened, () => parsePostfix(reader, first, parse));
  const start = of.range.start.offset;
  return { kind: 'splat', style: 'full', of, item, range: reader.range(start) };
}
