import { HclError, type HclFault } from './errors.ts';
import { parseExpression } from './expression.ts';
import type { Token } from './lexer.ts';
import { describeToken, type Reader } from './reader.ts';
import type { HclAttribute, HclBlock, HclBody, HclItem, HclLabel } from './syntax.ts';
import { readTemplate } from './template.ts';

/**
 * Reads bodies. A fault in an item does not hide the faults of later items: reading goes on behind the
 * brackets of the item, unless its end cannot be found.
 */
export class BodyParser {
  readonly faults: HclFault[] = [];
  private readonly reader: Reader;
  /** Whether the rest of the text cannot be read. */
  private halted = false;

  constructor(reader: Reader) {
    this.reader = reader;
  }

  /** Reads the whole text. Throws all faults together. */
  file(): HclBody {
    try {
      const items = this.items('end');
      if (this.faults.length === 0) {
        return { kind: 'body', items, range: this.reader.range(0, this.reader.source.text.length) };
      }
    } catch (error) {
      if (!(error instanceof HclError)) throw error;
      if (!this.halted) this.faults.push(...error.faults);
    }
    throw new HclError(this.faults);
  }

  private items(until: '}' | 'end'): readonly HclItem[] {
    const items: HclItem[] = [];
    const attributes = new Map<string, HclAttribute>();
    for (;;) {
      this.reader.skipNewlines();
      const first = this.reader.peek();
      if (first.kind === 'end' || (until === '}' && isSymbol(first, '}'))) return items;
      const item = this.attempt(first.offset, () => this.item(until));
      if (item === undefined) continue;
      if (item.kind === 'attribute' && !this.reader.hcl1) this.noteAttribute(attributes, item);
      items.push(item);
    }
  }

  private attempt<T>(start: number, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (this.halted || !(error instanceof HclError)) throw error;
      this.faults.push(...error.faults);
      if (this.faults.length >= this.reader.limits.faultsMax || !this.passOver(start, error)) {
        this.halted = true;
        throw error;
      }
      return undefined;
    }
  }

  private noteAttribute(known: Map<string, HclAttribute>, item: HclAttribute): void {
    const before = known.get(item.name);
    if (before === undefined) {
      known.set(item.name, item);
      return;
    }
    if (this.faults.length >= this.reader.limits.faultsMax) return;
    const sentence = `"${item.name}" is set already on line ${before.range.start.line}`;
    this.faults.push(this.reader.source.fault(sentence, item.range.start.offset));
  }

  private item(until: '}' | 'end'): HclItem {
    const start = this.reader.peek().offset;
    const name = this.name();
    if (this.reader.hcl1) this.reader.skipNewlinesBefore('=', '{');
    const item = this.reader.at('=')
      ? this.attribute(name, start)
      : this.block(name, start, this.labels());
    this.endItem(item, until);
    return item;
  }

  private name(): HclLabel {
    const { reader } = this;
    const token = reader.peek();
    if (token.kind === 'quote' && this.reader.hcl1) return this.quotedLabel();
    if (token.kind === 'quote') throw reader.expected('a name without quotes');
    if (token.kind !== 'name') throw reader.expected('the name of an attribute or block');
    reader.next();
    return { kind: 'label', text: token.text, quoted: false, range: reader.range(token.offset) };
  }

  private attribute(name: HclLabel, start: number): HclAttribute {
    const { reader } = this;
    reader.expect('=');
    if (this.reader.hcl1) this.reader.skipNewlines();
    const value = parseExpression(reader);
    const range = reader.range(start);
    return { kind: 'attribute', name: name.text, nameRange: name.range, value, range };
  }

  private labels(): readonly HclLabel[] {
    const { reader } = this;
    const labels: HclLabel[] = [];
    for (;;) {
      if (this.reader.hcl1) this.reader.skipNewlinesBefore('{');
      const token = reader.peek();
      if (reader.at('{')) return labels;
      if (token.kind === 'quote') labels.push(this.quotedLabel());
      else if (token.kind === 'name') labels.push(this.name());
      else if (labels.length === 0) throw reader.expected('"=" and a value, a label, or "{"');
      else throw reader.expected('a label or "{"');
    }
  }

  private quotedLabel(): HclLabel {
    const { reader } = this;
    const literal = readTemplate(reader, parseExpression);
    if (literal.kind === 'literal') {
      return { kind: 'label', text: String(literal.value), quoted: true, range: literal.range };
    }
    const hint = 'write "$${" or "%%{" to mean the characters';
    throw reader.error(`A label is plain text; ${hint}`, literal.range.start.offset);
  }

  private block(type: HclLabel, start: number, labels: readonly HclLabel[]): HclBlock {
    const { reader } = this;
    const opened = reader.expect('{');
    const body = reader.nested(opened.offset, () => this.blockBody(opened));
    const range = reader.range(start);
    return { kind: 'block', type: type.text, typeRange: type.range, labels, body, range };
  }

  private blockBody(opened: Token): HclBody {
    const { reader } = this;
    const oneLine = !this.reader.hcl1 && reader.peek().kind !== 'newline';
    const items = oneLine ? this.oneLine() : this.items('}');
    const hint = oneLine ? ': a block on one line holds one argument at most' : '';
    reader.expectClose('}', opened, `"}"${hint}`);
    return { kind: 'body', items, range: reader.range(opened.offset) };
  }

  /** `{ }` or `{ name = value }`. */
  private oneLine(): readonly HclItem[] {
    const { reader } = this;
    const token = reader.peek();
    if (token.kind === 'end' || reader.at('}')) return [];
    const name = this.name();
    if (!reader.at('='))
      throw reader.expected('"=" and a value: a block on one line holds no block');
    return [this.attribute(name, token.offset)];
  }

  private endItem(item: HclItem, until: '}' | 'end'): void {
    const { reader } = this;
    if (this.reader.hcl1) {
      reader.take(',');
      return;
    }
    const token = reader.peek();
    if (token.kind === 'newline' || token.kind === 'end') return;
    const found = describeToken(token);
    if (until === 'end' && isSymbol(token, '}')) {
      throw reader.error('This "}" closes nothing', token.offset);
    }
    const what = item.kind === 'block' ? 'the block' : 'the value';
    throw reader.error(`Expected a new line after ${what}, found ${found}`, token.offset);
  }

  /** Moves behind the item that began at `start` and failed at `error`. `false`: its end was not found. */
  private passOver(start: number, error: HclError): boolean {
    const { reader } = this;
    const failed = error.faults.at(-1)!.offset;
    try {
      return reader.withNewlines(true, () => {
        reader.seek(start);
        for (let open = 0; ; ) {
          const token = reader.peek();
          if (token.kind === 'end') return false;
          const isPast = token.offset >= failed && open === 0;
          if (isPast && token.kind === 'newline') return true;
          if (isPast && token.offset > start && isSymbol(token, '}')) return true;
          if (token.kind === 'quote' || token.kind === 'heredoc') {
            readTemplate(reader, parseExpression);
          } else {
            reader.next();
          }
          if (isSymbol(token, '{', '[', '(')) open++;
          else if (isSymbol(token, '}', ']', ')')) open = Math.max(0, open - 1);
        }
      });
    } catch (unreadable) {
      if (unreadable instanceof HclError) return false;
      throw unreadable;
    }
  }
}

const isSymbol = (token: Token, ...texts: readonly string[]): boolean =>
  token.kind === 'symbol' && texts.includes(token.text);
