import type { Authorizer } from '../acl/authorizer.ts';
import { each, type Steps, sorted } from '../base/steps.ts';
import type { SharedQuery } from '../contract/shared-query.ts';
import { limits } from '../model/limits.ts';
import type { Change } from '../state/types.ts';
import { RowTest, type Walk, type WalkOptions } from './list-walk.ts';
import type { Following } from './route.ts';
import { directionOf, sortText } from './sort-order.ts';

/** The order of a list: by a field and then by the keys of the rows, or by these alone. */
export interface ListOrder {
  readonly field?: string | undefined;
  readonly reverse: boolean;
}

interface Heard {
  readonly changes: readonly Change[];
  /** The records that show another changed row. */
  readonly names: ReadonlySet<string>;
  readonly index: number;
}

/** A request for the list, which is always the same one. */
export type KeptQuestion = Omit<WalkOptions, 'rows' | 'counts'>;

/**
 * All rows of a watched list in their order. They follow the changes of their table, so that the next answer looks at
 * the changed rows alone.
 *
 * Invariants
 *  K1. After `settle`, the kept rows equal the rows of a walk over the snapshot of the question, in the same order.
 *  K2. They belong to the rights that they were gathered with. With others, or after a loss of changes, they are gathered
 *      anew.
 *  K3. Rows and waiting changes are bounded. A longer list is not kept.
 *  K4. A kept text is the text that its record has in the snapshot of the last question. Only those of the last page are kept.
 */
export class KeptRows {
  readonly #following: Following;
  readonly #order: ListOrder;
  #authorizer: Authorizer | undefined;
  #rows: unknown[] = [];
  /** Changes that the rows do not show yet, the oldest first. */
  #heard: Heard[] = [];
  #heardCount = 0;
  #isLost = true;
  /** All rows have been looked at; not while they are, nor after a failure meanwhile. */
  #isWhole = false;
  /** The rows of the list before rights and filter. */
  #looked = 0;
  /** By the names of their records. */
  #texts = new Map<string, KeptText>();
  /** The list is longer than any that is kept. */
  isTooLong = false;
  filteredByAcls = false;

  constructor(following: Following, order: ListOrder) {
    this.#following = following;
    this.#order = order;
  }

  /** Takes the changes of a transaction. */
  hear(changes: readonly Change[], index: number): void {
    if (this.#isLost) return;
    const { table, texts } = this.#following;
    const own = changes.filter((change) => change.table === table);
    const names = new Set<string>();
    if (texts !== undefined) {
      for (const change of changes) {
        const name = texts.shownIn(change);
        if (name !== undefined) names.add(name);
      }
    }
    if (own.length + names.size === 0) return;
    this.#heard.push({ changes: own, names, index });
    this.#heardCount += own.length + names.size;
    if (this.#heardCount > limits.list.keptChangesMax) this.lose();
  }

  /** Drops the rows, which do not follow the state any more. The next question gathers them anew. */
  lose(): void {
    this.#isLost = true;
    this.#rows = [];
    this.#heard = [];
    this.#heardCount = 0;
    this.#looked = 0;
    this.#texts = new Map();
  }

  get size(): number {
    return this.#rows.length;
  }

  isGathered({ authorizer }: KeptQuestion): boolean {
    return this.#isWhole && !this.#isLost && this.#authorizer === authorizer;
  }

  /** Finds the rows. Meanwhile it hears of the changes after the snapshot of the question. */
  *gather(question: KeptQuestion): Steps<void> {
    const { run, input, authorizer } = question;
    const { field, reverse } = this.#order;
    this.lose();
    this.#isLost = false;
    this.#isWhole = false;
    this.#authorizer = authorizer;
    const test = new RowTest(question);
    const found: unknown[] = [];
    const isReversed = field === undefined && reverse;
    yield* each(run.rows(input, { from: undefined, reverse: isReversed }), (row) => {
      if (++this.#looked <= limits.list.sortedRowsMax && test.passes(row)) found.push(row);
    });
    this.filteredByAcls = test.filteredByAcls;
    if (this.#looked > limits.list.sortedRowsMax) return this.#giveUp();
    this.#rows = field === undefined ? found : yield* this.#inOrder(found, question);
    this.#isWhole = true;
  }

  *#inOrder(rows: readonly unknown[], question: KeptQuestion): Steps<unknown[]> {
    const placed: { readonly row: unknown; readonly place: string }[] = [];
    yield* each(rows, (row) => placed.push({ row, place: this.#placeOf(row, question) }));
    const goesFirst = (left: string, right: string) => (this.#isBefore(left, right) ? -1 : 1);
    const all = yield* sorted(placed, (left, right) => goesFirst(left.place, right.place));
    return all.map(({ row }) => row);
  }

  /** Shows the changes up to the snapshot of the question. */
  settle(question: KeptQuestion): void {
    const { index } = question.input.snapshot;
    const test = new RowTest(question);
    this.#isWhole = false;
    while (this.#heard.length > 0 && this.#heard[0]!.index <= index) {
      const { changes, names } = this.#heard.shift()!;
      this.#heardCount -= changes.length + names.size;
      for (const { before, after } of changes) this.#show({ before, after, test }, question);
      for (const name of names) this.#texts.delete(name);
    }
    this.#isWhole = true;
    this.filteredByAcls ||= test.filteredByAcls;
    if (this.#looked > limits.list.sortedRowsMax) this.#giveUp();
  }

  #giveUp(): void {
    this.isTooLong = true;
    this.lose();
  }

  #show(
    { before, after, test }: { before: unknown; after: unknown; test: RowTest },
    question: KeptQuestion,
  ): void {
    const { isIn } = this.#following;
    if (before !== undefined && isIn(before)) {
      this.#looked--;
      const place = this.#placeOf(before, question);
      const at = this.#countBefore(place, question);
      const isThere = at < this.#rows.length && this.#placeOf(this.#rows[at], question) === place;
      if (isThere) this.#rows.splice(at, 1);
    }
    if (after === undefined || !isIn(after)) return;
    this.#looked++;
    if (!test.passes(after)) return;
    this.#rows.splice(this.#countBefore(this.#placeOf(after, question), question), 0, after);
  }

  /** The number of rows before the place. */
  #countBefore(place: string, question: KeptQuestion): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isBefore(this.#placeOf(this.#rows[middle], question), place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(left: string, right: string): boolean {
    return this.#isDescending ? left > right : left < right;
  }

  get #isDescending(): boolean {
    const { field, reverse } = this.#order;
    const isUsuallyDown = field === undefined && this.#following.order === 'down';
    return isUsuallyDown !== reverse;
  }

  #placeOf(row: unknown, { run, input }: KeptQuestion): string {
    const { field } = this.#order;
    const key = run.keyOf(row, input);
    return (field === undefined ? key : [sortText(fieldOf(row, field)), ...key]).join('\0');
  }

  /** The page, which later changes do not change. */
  walk(question: KeptQuestion, { total: isCounted }: SharedQuery): Walk {
    const { run, input, perPage } = question;
    // The range is read, so that its changes are changes of the answer.
    run.rows(input, { from: undefined, reverse: false })[Symbol.iterator]().next();
    const start = this.#startOf(question);
    const rows = this.#rows.slice(start, start + perPage);
    const next = this.#rows[start + perPage];
    const isWhole = isCounted || this.#order.field !== undefined;
    const total = isWhole ? this.#rows.length : undefined;
    const nextKey = next === undefined ? undefined : this.#tokenOf(next, question);
    const { filteredByAcls } = this;
    return new KeptWalk({
      rows,
      nextKey,
      total,
      filteredByAcls,
      textOf: this.#pageTexts(question),
    });
  }

  /** Gives the texts of the records of a page. */
  #pageTexts({ input }: KeptQuestion): Walk['textOf'] {
    const { texts } = this.#following;
    if (texts === undefined) return undefined;
    texts.readRanges(input.snapshot);
    const [before, now] = [this.#texts, new Map<string, KeptText>()];
    this.#texts = now;
    return (row, present) => {
      const name = texts.nameOf(row);
      const known = before.get(name);
      const isKept = known !== undefined && known.row === row;
      const text = isKept ? known.text : JSON.stringify(present(row));
      now.set(name, { row, text });
      return text;
    };
  }

  /** The number of rows on the pages before, whether the row that the token names is still there or not. */
  #startOf(question: KeptQuestion): number {
    const { from } = question;
    if (from === undefined) return 0;
    const [, , ...ofSorted] = from;
    const place = this.#order.field === undefined ? from : ofSorted;
    return this.#countBefore(place.join('\0'), question);
  }

  #tokenOf(row: unknown, { run, input }: KeptQuestion): readonly string[] {
    const { field, reverse } = this.#order;
    const key = run.keyOf(row, input);
    if (field === undefined) return key;
    return [field, directionOf(reverse), sortText(fieldOf(row, field)), ...key];
  }
}

interface KeptText {
  readonly row: unknown;
  readonly text: string;
}

const fieldOf = (row: unknown, field: string): unknown =>
  (row as Readonly<Record<string, unknown>>)[field];

class KeptWalk implements Walk {
  readonly #rows: readonly unknown[];
  #taken = 0;
  readonly nextKey: readonly string[] | undefined;
  readonly total: number | undefined;
  readonly filteredByAcls: boolean;
  readonly textOf: Walk['textOf'];

  constructor({
    rows,
    nextKey,
    total,
    filteredByAcls,
    textOf,
  }: Omit<Walk, 'go'> & { readonly rows: readonly unknown[] }) {
    this.#rows = rows;
    this.nextKey = nextKey;
    this.total = total;
    this.filteredByAcls = filteredByAcls;
    this.textOf = textOf;
  }

  go(count: number, take: (row: unknown) => void): boolean {
    const end = Math.min(this.#taken + count, this.#rows.length);
    while (this.#taken < end) take(this.#rows[this.#taken++]);
    return end === this.#rows.length;
  }
}
