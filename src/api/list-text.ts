import { limits } from '../model/limits.ts';
import { prettyJson } from './encode.ts';

/** The JSON of a list, in the pieces of which it is joined. */
export interface ListForm {
  readonly begin: string;
  readonly between: string;
  readonly end: string;
  readonly empty: string;
  /** The text of records without the brackets of the list. */
  readonly join: (records: readonly unknown[]) => string;
}

const plain: ListForm = {
  begin: '[',
  between: ',',
  end: ']',
  empty: '[]',
  join: (records) => JSON.stringify(records).slice('['.length, -']'.length),
};

export const listForms = {
  plain,
  pretty: {
    begin: '[\n',
    between: ',\n',
    end: '\n]\n',
    empty: '[]\n',
    join: (records) => prettyJson(records).slice('[\n'.length, -'\n]\n'.length),
  } satisfies ListForm,
  /** Of records whose texts are kept, and that are texts already. */
  kept: { ...plain, join: (texts) => texts.join(',') } satisfies ListForm,
};

/** The JSON of a list in parts. Joined, they are equal to the JSON of the whole list. */
export class ListText {
  readonly #form: ListForm;
  #hasBegun = false;

  constructor(form: ListForm) {
    this.#form = form;
  }

  next(records: readonly unknown[]): string {
    if (records.length === 0) return '';
    const { begin, between, join } = this.#form;
    const before = this.#hasBegun ? between : begin;
    this.#hasBegun = true;
    return before + join(records);
  }

  end(): string {
    return this.#hasBegun ? this.#form.end : this.#form.empty;
  }
}

interface KeptText {
  readonly other: object | null;
  readonly text: string;
}

/**
 * The texts of records that show a row and one other row. Both are immutable, so the text holds for these two.
 * Nothing is dropped for a newer text: a list that is longer than the bound would drop each text before it is
 * read again.
 */
export class KeptTexts {
  readonly #kept = new Map<object, KeptText>();
  #length = 0;

  textOf<R extends object>(row: R, other: object | null, present: (row: R) => unknown): string {
    const known = this.#kept.get(row);
    if (known?.other === other) return known.text;
    if (known !== undefined) this.forget(row);
    const text = JSON.stringify(present(row));
    if (this.#length + text.length <= limits.http.listedTextsLengthMax) {
      this.#kept.set(row, { other, text });
      this.#length += text.length;
    }
    return text;
  }

  /** Makes room, as the row was replaced or deleted. */
  forget(row: object): void {
    const known = this.#kept.get(row);
    if (known === undefined) return;
    this.#kept.delete(row);
    this.#length -= known.text.length;
  }

  forgetAll(): void {
    this.#kept.clear();
    this.#length = 0;
  }
}
