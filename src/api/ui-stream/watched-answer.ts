import { difference, type Json } from '../../model/ui-stream/difference.ts';
import type { About } from '../../model/ui-stream/messages.ts';

/** An answer to a watched path, for all who follow that with the same token. */
export class WatchedAnswer {
  readonly status: number;
  /** JSON: the value, or the problem of a refusal. */
  readonly text: string;
  readonly about: About;
  readonly #changes = new WeakMap<WatchedAnswer, string>();
  #value: { readonly json: Json } | undefined;

  constructor(status: number, text: string, about: About) {
    this.status = status;
    this.text = text;
    this.about = about;
  }

  get isValue(): boolean {
    return this.status < 400;
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
    const { whole } = this;
    if (!this.isValue || !before.isValue) return whole;
    const change = difference(before.#parsed, this.#parsed);
    if (change === undefined) return this.same;
    const text = `"kind":"change",${this.#aboutText},"change":${JSON.stringify(change)}`;
    return text.length < whole.length ? text : whole;
  }

  get #parsed(): Json {
    this.#value ??= { json: JSON.parse(this.text) };
    return this.#value.json;
  }

  get #aboutText(): string {
    return JSON.stringify(this.about).slice(1, -1);
  }
}
