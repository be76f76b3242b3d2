import { type Difference, difference, type Json } from '../../model/ui-stream/difference.ts';
import type { About } from '../../model/ui-stream/messages.ts';
import { rowDifference } from '../../model/ui-stream/row-difference.ts';

/** The JSON of an answer: the value, or the problem of a refusal. Of a list, perhaps, the texts of its rows. */
export type WatchedBody = { readonly text: string } | { readonly rows: readonly string[] };

/** An answer to a watched path, for all who follow that with the same token. */
export class WatchedAnswer {
  readonly status: number;
  readonly about: About;
  /** The length of its text. */
  readonly length: number;
  readonly #body: WatchedBody;
  readonly #changes = new WeakMap<WatchedAnswer, string>();
  #value: { readonly json: Json } | undefined;

  constructor(status: number, body: WatchedBody, about: About) {
    this.status = status;
    this.about = about;
    this.length = 'text' in body ? body.text.length : lengthOfRows(body.rows);
    this.#body = body;
  }

  get isValue(): boolean {
    return this.status < 400;
  }

  get text(): string {
    return 'text' in this.#body ? this.#body.text : `[${this.#body.rows.join(',')}]`;
  }

  /** Whether both are lists of the same rows. */
  hasRows(other: WatchedBody): boolean {
    if (!('rows' in this.#body && 'rows' in other)) return false;
    const { rows } = other;
    return (
      this.#body.rows.length === rows.length && this.#body.rows.every((row, at) => row === rows[at])
    );
  }

  /** The fields of a message with the whole answer. */
  get whole(): string {
    if (!this.isValue) return `"kind":"refused","problem":${this.text}`;
    return `"kind":"value",${this.#aboutText},"value":${this.text}`;
  }

  get same(): string {
    return `"kind":"same",${this.#aboutText}`;
  }

  /** The fields of a message to a reader of the other answer: the shorter of change and whole. */
  after(before: WatchedAnswer): string {
    let text = this.#changes.get(before);
    if (text === undefined) {
      text = this.#changeTo(before);
      this.#changes.set(before, text);
    }
    return text;
  }

  #changeTo(before: WatchedAnswer): string {
    if (!this.isValue || !before.isValue) return this.whole;
    const found = this.#differenceFrom(before);
    if (found === undefined) return this.same;
    const change = JSON.stringify(found);
    return change.length < this.length
      ? `"kind":"change",${this.#aboutText},"change":${change}`
      : this.whole;
  }

  #differenceFrom(before: WatchedAnswer): Difference | undefined {
    const [old, own] = [before.#body, this.#body];
    if ('rows' in old && 'rows' in own) return rowDifference(old.rows, own.rows);
    return difference(before.#parsed, this.#parsed);
  }

  get #parsed(): Json {
    this.#value ??= { json: JSON.parse(this.text) };
    return this.#value.json;
  }

  get #aboutText(): string {
    return JSON.stringify(this.about).slice(1, -1);
  }
}

/** With the brackets and the commas. */
const lengthOfRows = (rows: readonly string[]): number =>
  rows.reduce((sum, row) => sum + row.length, 0) + Math.max(0, rows.length - 1) + 2;
