import { HclError } from './errors.ts';
import type { HclLimits } from './limits.ts';
import { openText } from './parse.ts';
import type { Reader } from './reader.ts';
import type { HclAttribute, HclBody, HclEntry, HclExpression, HclObject } from './syntax.ts';

/**
 * A JSON text as an expression with positions. Strings are plain text, even if they look like templates. A
 * duplicate key in an object is refused.
 * @throws HclError
 */
export function parseJson(text: string, options: Partial<HclLimits> = {}): HclExpression {
  const parser = new JsonParser(openText(text, options).reader);
  const value = parser.whole();
  if (parser.faults.length > 0) throw new HclError(parser.faults);
  return value;
}

/**
 * A JSON object as a body: each of its keys is an attribute. `expandBlocks` makes blocks of some of them.
 * @throws HclError
 */
export function parseJsonBody(text: string, options: Partial<HclLimits> = {}): HclBody {
  const value = parseJson(text, options);
  if (value.kind === 'object') return bodyOfObject(value);
  throw openText(text, options).source.error('Expected an object', value.range.start.offset);
}

/** The entries as attributes. The keys are literals, as in JSON. */
export function bodyOfObject({ entries, range }: HclObject): HclBody {
  const items = entries.map(({ key, value, range }): HclAttribute => {
    const name = key.kind === 'literal' ? String(key.value) : '';
    return { kind: 'attribute', name, nameRange: key.range, value, range };
  });
  return { kind: 'body', items, range };
}

const space = /[ \t\r\n]*/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const plain = /[^"\\\u0000-\u001f]*/y;
const escapes = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;
const word = /[A-Za-z]+/y;
const words: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class JsonParser {
  readonly faults: HclError['faults'][number][] = [];
  private readonly reader: Reader;
  private readonly text: string;
  private at: number;

  constructor(reader: Reader) {
    this.reader = reader;
    this.text = reader.source.text;
    this.at = reader.lastEnd;
  }

  whole(): HclExpression {
    this.skipSpace();
    const value = this.value();
    if (this.at < this.text.length) throw this.expected('the end of the text');
    return value;
  }

  /** Every reader also takes the space behind its value. */
  private value(): HclExpression {
    const start = this.at;
    const character = this.text[start];
    if (character === '{') return this.reader.nested(start, () => this.object());
    if (character === '[') return this.reader.nested(start, () => this.tuple());
    if (character === '"') return this.literal(start, this.string());
    const digits = this.match(number);
    if (digits !== undefined) {
      const value = Number(digits);
      if (Number.isFinite(value)) return this.literal(start, value);
      throw this.reader.error('This number is too large', start);
    }
    const value = words.get(this.match(word) ?? '');
    if (value !== undefined) return this.literal(start, value);
    this.at = start;
    throw this.expected('a value');
  }

  private literal(start: number, value: string | number | boolean | null): HclExpression {
    const range = this.reader.range(start, this.at);
    this.skipSpace();
    return { kind: 'literal', value, range };
  }

  private tuple(): HclExpression {
    const start = this.at;
    const items: HclExpression[] = [];
    this.list(']', () => items.push(this.value()));
    const range = this.reader.range(start, this.at);
    this.skipSpace();
    return { kind: 'tuple', items, range };
  }

  private object(): HclExpression {
    const start = this.at;
    const entries: HclEntry[] = [];
    const keys = new Set<string>();
    this.list('}', () => entries.push(this.entry(keys)));
    const range = this.reader.range(start, this.at);
    this.skipSpace();
    return { kind: 'object', entries, range };
  }

  private entry(keys: Set<string>): HclEntry {
    const start = this.at;
    if (this.text[start] !== '"') throw this.expected('a key in double quotes');
    const name = this.string();
    const key = this.literal(start, name);
    if (keys.has(name)) this.repeated(name, start);
    keys.add(name);
    if (!this.takeSymbol(':')) throw this.expected('":" after the key');
    const value = this.value();
    const range = this.reader.range(start, value.range.end.offset);
    return { kind: 'entry', key, value, isBlock: false, range };
  }

  private repeated(name: string, start: number): void {
    const fault = this.reader.source.fault(`The key ${shown(name)} is given twice`, start);
    if (this.faults.length >= this.reader.limits.faultsMax) throw new HclError(this.faults);
    this.faults.push(fault);
  }

  /** The range from the opening to the closing bracket, without the space behind it. */
  private list(close: string, item: () => void): void {
    const opened = this.at++;
    this.skipSpace();
    if (this.text[this.at] !== close) {
      do item();
      while (this.takeSymbol(','));
    }
    if (this.at >= this.text.length) {
      const open = this.text[opened];
      throw this.reader.error(`This "${open}" is not closed by "${close}"`, opened);
    }
    if (this.text[this.at] !== close) throw this.expected(`"," or "${close}"`);
    this.at++;
  }

  private string(): string {
    const start = this.at++;
    for (;;) {
      this.match(plain);
      const character = this.text[this.at];
      if (character === '"') break;
      if (character === undefined) throw this.reader.error('This string is not closed', start);
      if (character !== '\\') {
        throw this.reader.error('A string is on one line and holds no control character', this.at);
      }
      if (this.match(escapes) === undefined) {
        throw this.reader.error('Unknown escape in a string', this.at);
      }
    }
    this.at++;
    return JSON.parse(this.text.slice(start, this.at)) as string;
  }

  private takeSymbol(symbol: string): boolean {
    if (this.text[this.at] !== symbol) return false;
    this.at++;
    this.skipSpace();
    return true;
  }

  private skipSpace(): void {
    this.match(space);
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  private expected(what: string): HclError {
    const character = this.text.codePointAt(this.at);
    const found =
      character === undefined ? 'the end of the text' : shown(String.fromCodePoint(character));
    return this.reader.error(`Expected ${what}, found ${found}`, this.at);
  }
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 40).toWellFormed());
