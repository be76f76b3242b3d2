import type { Reader } from './reader.ts';
import type { HclEntry, HclExpression, HclFor } from './syntax.ts';

/** The reader of a construct's parts. It is passed in, so that no file imports the files that use it. */
export type ParseExpression = (reader: Reader) => HclExpression;

/** Reads a tuple, an object, or a `for` expression in either kind of bracket. */
export function parseCollection(reader: Reader, parse: ParseExpression): HclExpression {
  const opened = reader.peek();
  const isFor = reader.withNewlines(false, () => {
    reader.next();
    return reader.atName('for');
  });
  if (isFor) return reader.withNewlines(false, () => forExpression(reader, parse, opened.offset));
  // Peeking may have skipped newlines, which mean nothing here.
  return opened.text === '['
    ? reader.withNewlines(false, () => tuple(reader, parse, opened.offset))
    : reader.withNewlines(true, () => object(reader, parse, opened.offset));
}

const bracket = (reader: Reader, offset: number) => ({
  kind: 'symbol' as const,
  text: reader.source.text[offset]!,
  offset,
  end: offset + 1,
  indented: false,
});

function tuple(reader: Reader, parse: ParseExpression, start: number): HclExpression {
  const items: HclExpression[] = [];
  while (!reader.at(']')) {
    items.push(parse(reader));
    if (!reader.take(',')) break;
  }
  reader.expectClose(']', bracket(reader, start), '"," or "]"');
  return { kind: 'tuple', items, range: reader.range(start) };
}

function object(reader: Reader, parse: ParseExpression, start: number): HclExpression {
  const entries: HclEntry[] = [];
  for (;;) {
    reader.skipNewlines();
    if (reader.at('}')) break;
    if (reader.peek().kind === 'end') break;
    entries.push(entry(reader, parse));
    if (reader.take(',') || reader.hcl1 || reader.peek().kind === 'newline') continue;
    break;
  }
  reader.expectClose('}', bracket(reader, start), '",", a new line or "}"');
  return { kind: 'object', entries, range: reader.range(start) };
}

function entry(reader: Reader, parse: ParseExpression): HclEntry {
  const start = reader.peek().offset;
  const key = bareKey(parse(reader));
  if (reader.hcl1) reader.skipNewlinesBefore('=', ':', '{');
  const isBlock = reader.hcl1 && reader.at('{');
  if (!isBlock) {
    if (!reader.take('=') && !reader.take(':')) throw reader.expected('"=" after the key');
    if (reader.hcl1) reader.skipNewlines();
  }
  const value = parse(reader);
  const range = reader.range(start);
  return { kind: 'entry', key, value, isBlock, range };
}

/** Reads a key. A bare word is the key itself, even if it is a keyword. */
function bareKey(key: HclExpression): HclExpression {
  if (key.kind === 'variable') return { kind: 'literal', value: key.name, range: key.range };
  if (key.kind === 'literal' && (key.value === null || typeof key.value === 'boolean')) {
    return { kind: 'literal', value: String(key.value), range: key.range };
  }
  return key;
}

function forExpression(reader: Reader, parse: ParseExpression, start: number): HclFor {
  const opened = bracket(reader, start);
  const makesObject = opened.text === '{';
  const { keyName, valueName } = parseForNames(reader);
  const collection = parse(reader);
  reader.expect(':', '":" after the collection');
  const first = parse(reader);
  if (makesObject) reader.expect('=>', '"=>" after the key');
  else if (reader.at('=>')) throw reader.expected('no key: "[" makes a tuple');
  const value = makesObject ? parse(reader) : first;
  if (!makesObject && reader.at('...')) throw reader.expected('no grouping: "[" makes a tuple');
  const grouped = makesObject && reader.take('...');
  const condition = takeName(reader, 'if') ? parse(reader) : undefined;
  reader.expectClose(makesObject ? '}' : ']', opened, `"if" or "${makesObject ? '}' : ']'}"`);
  const key = makesObject ? first : undefined;
  const range = reader.range(start);
  return { kind: 'for', keyName, valueName, collection, key, value, condition, grouped, range };
}

/** Reads `for name in` or `for key, value in`, up to the collection. */
export function parseForNames(reader: Reader): {
  readonly keyName: string | undefined;
  readonly valueName: string;
} {
  reader.next();
  const first = reader.expectName('a name for the element after "for"').text;
  const second = reader.take(',')
    ? reader.expectName('a name for the element after ","').text
    : undefined;
  if (!takeName(reader, 'in')) throw reader.expected('"in" and a collection');
  if (second === undefined) return { keyName: undefined, valueName: first };
  return { keyName: first, valueName: second };
}

function takeName(reader: Reader, name: string): boolean {
  if (!reader.atName(name)) return false;
  reader.next();
  return true;
}
