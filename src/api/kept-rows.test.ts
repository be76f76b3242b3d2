import { describe, expect, test } from 'vitest';
import type { Authorizer } from '../acl/authorizer.ts';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import type { SharedQuery } from '../contract/shared-query.ts';
import type { Change } from '../state/types.ts';
import { KeptLists } from './kept-lists.ts';
import type { KeptQuestion } from './kept-rows.ts';
import { CountedWalk, ListWalk, type Walk } from './list-walk.ts';
import { Memory } from './memory.ts';
import { SortedWalk } from './sorted-walk.ts';
import { Turns } from './turns.ts';

interface Row {
  readonly id: string;
  readonly size: number;
  readonly isSecret: boolean;
}

const [table, perPage] = ['things', 3];
/** Records show the note on their row, too. */
const notes = 'notes';

/** A table of rows, with the lists that follow its changes. */
class Table {
  readonly world = new SimulatedWorld(7);
  readonly #rows = new Map<string, Row>();
  readonly #notes = new Map<string, number>();
  /** Ids of the records whose texts were made since. */
  made: string[] = [];
  readonly #lists = new KeptLists(new Turns(this.world));
  readonly #memory = new Memory();
  #index = 0;
  #authorizer = authorizerOf(false);
  /** Whether the filter fails. */
  isFailing = false;

  /** Writes or deletes a row at random. */
  change(): void {
    const { random } = this.world;
    const id = String(random.below(12));
    if (random.below(4) === 0) this.note(id);
    else if (random.below(3) > 0)
      this.put({ id, size: random.below(5), isSecret: !random.below(4) });
    else if (this.#rows.has(id)) this.#hear(id, undefined);
  }

  note(id: string): void {
    const count = (this.#notes.get(id) ?? 0) + 1;
    this.#notes.set(id, count);
    const change = { table: notes, before: undefined, after: { id, count } };
    this.#lists.hear([change as unknown as Change], ++this.#index);
  }

  /** The record of a row. */
  readonly recordOf = (row: unknown): unknown => {
    const { id } = row as Row;
    this.made.push(id);
    return { row, note: this.#notes.get(id) };
  };

  put(row: Row): void {
    this.#hear(row.id, row);
  }

  #hear(id: string, after: Row | undefined): void {
    const before = this.#rows.get(id);
    if (after === undefined) this.#rows.delete(id);
    else this.#rows.set(id, after);
    this.#lists.hear([{ table, before, after } as unknown as Change], ++this.#index);
  }

  /** Gives the caller other rights. */
  allow(seesSecrets: boolean): void {
    this.#authorizer = authorizerOf(seesSecrets);
  }

  restore(): void {
    this.#index = 0;
    this.#rows.clear();
    this.#lists.loseAll();
  }

  questionFrom(from: Walk['nextKey']): KeptQuestion {
    const rows = [...this.#rows.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
    const run = {
      rows: (_: unknown, { from: [start] = [], reverse }: { from?: string[]; reverse: boolean }) =>
        (reverse ? rows.toReversed() : rows).filter(
          ({ id }) => start === undefined || (reverse ? id <= start : id >= start),
        ),
      keyOf: ({ id }: Row) => [id],
      follows: () => ({
        table,
        order: 'up',
        isIn: () => true,
        texts: {
          nameOf: ({ id }: Row) => id,
          shownIn: ({ table: of, after }: Change) =>
            of === notes ? (after as unknown as Row).id : undefined,
          readRanges: () => {},
        },
      }),
      sorts: ['size'],
      check: { permissionFor: (row: Row) => row },
    };
    const filter = ({ size }: Row) => {
      if (this.isFailing) throw new Error('it fails');
      return size !== 1;
    };
    const input = { namespace: 'default', snapshot: { index: this.#index } };
    const authorizer = this.#authorizer;
    return { run, input, authorizer, filter, from, perPage } as unknown as KeptQuestion;
  }

  kept(shared: SharedQuery, from: Walk['nextKey']): Walk {
    const request = {
      follower: { memory: this.#memory, measure: (work: () => unknown) => work() },
    };
    return this.#lists.walkOf(this.questionFrom(from), { shared, request } as never) as Walk;
  }
}

const authorizerOf = (seesSecrets: boolean): Authorizer =>
  ({ allows: (row: unknown) => seesSecrets || !(row as Row).isSecret }) as unknown as Authorizer;

/** The page, and what its answer tells beside it. */
function pageOf(walk: Walk, { recordOf }: Table) {
  const rows: unknown[] = [];
  const textOf = walk.textOf ?? ((row, present) => JSON.stringify(present(row)));
  while (!walk.go(2, (row) => rows.push(textOf(row, recordOf))));
  const { nextKey, total } = walk;
  return { rows, nextKey, total };
}

function looked(question: KeptQuestion, { sort, reverse, total: counts }: SharedQuery): Walk {
  const { from } = question;
  const rowsOf = (start: Walk['nextKey'], isReversed: boolean) =>
    question.run.rows(question.input, { from: start, reverse: isReversed });
  if (sort) {
    const order = { field: sort, isDescending: reverse, from };
    return new SortedWalk({ ...question, rows: rowsOf(undefined, false) }, order);
  }
  const page = { ...question, rows: rowsOf(from, reverse), counts };
  if (from === undefined) return new ListWalk(page);
  const all = { ...question, rows: rowsOf(undefined, false), perPage: 0, counts };
  return new CountedWalk(new ListWalk(all), { ...page, counts: false });
}

describe.each(['', 'size'])('a list in the order "%s"', (sort) => {
  test.each([false, true])('is that of a walk after each change, reversed: %s', (reverse) => {
    const things = new Table();
    const shared = { sort, reverse, total: true } as SharedQuery;
    let old: Walk['nextKey'];
    for (let change = 0; change < 300; change++) {
      things.change();
      if (change === 100) things.allow(true);
      if (change === 200) things.restore();
      // Sometimes several changes come between two answers.
      if (change % 3 === 0) continue;
      // The pages in turn, and one whose token may name a row that is gone, or is elsewhere now.
      let next: Walk['nextKey'];
      for (const from of [undefined, 'next', 'next', 'old'] as const) {
        const token = from === 'next' ? next : from === 'old' ? old : undefined;
        const page = pageOf(things.kept(shared, token), things);
        expect(page).toEqual(pageOf(looked(things.questionFrom(token), shared), things));
        next = page.nextKey;
        if (change % 10 === 1) old = next ?? old;
      }
    }
  });
});

test('rows that could not all be looked at are not taken for the whole list', () => {
  const things = new Table();
  const shared = { sort: '', reverse: false, total: true } as SharedQuery;
  for (let change = 0; change < 20; change++) things.change();
  // At the first look, and then at a change.
  for (let failure = 0; failure < 2; failure++) {
    things.put({ id: '3', size: failure, isSecret: false });
    things.isFailing = true;
    expect(() => things.kept(shared, undefined)).toThrow('it fails');
    things.isFailing = false;
    const page = pageOf(things.kept(shared, undefined), things);
    expect(page).toEqual(pageOf(looked(things.questionFrom(undefined), shared), things));
  }
});

test('the text of a record is made again when its row or a row that it shows has changed', () => {
  const things = new Table();
  const shared = { sort: '', reverse: false, total: true } as SharedQuery;
  const madeNow = () => {
    things.made = [];
    pageOf(things.kept(shared, undefined), things);
    return things.made;
  };
  for (const id of ['1', '2', '3', '4']) things.put({ id, size: 0, isSecret: false });
  expect(madeNow()).toEqual(['1', '2', '3']);
  expect(madeNow()).toEqual([]);
  things.note('2');
  things.note('4');
  expect(madeNow()).toEqual(['2']);
  things.put({ id: '3', size: 2, isSecret: false });
  expect(madeNow()).toEqual(['3']);
  things.allow(true);
  expect(madeNow()).toEqual(['1', '2', '3']);
});
