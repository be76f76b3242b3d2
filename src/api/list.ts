import type { TSchema } from 'typebox';
import type { Authorizer } from '../acl/authorizer.ts';
import type { Step } from '../base/slices.ts';
import type { SharedQuery } from '../contract/shared-query.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { defaultPartition } from '../model/namespace/namespace.ts';
import { filterOn } from './filter.ts';
import type { Request } from './http.ts';
import type { KeptLists } from './kept-lists.ts';
import { type KeptTexts, ListText, listForms } from './list-text.ts';
import { CountedWalk, ListWalk, type Predicate, type Walk, type WalkOptions } from './list-walk.ts';
import { type LongList, longListBody } from './long-list.ts';
import { measuredStep } from './measured.ts';
import type { Gather, Input, ListRun, PageStart } from './route.ts';
import { SortedWalk } from './sorted-walk.ts';
import type { Turns } from './turns.ts';

export interface Page {
  /** A short list. */
  readonly value?: readonly unknown[];
  /** In its place the text of one whose records have kept texts, or of a long list, which is written while it is read. */
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** The start of the next page; absent on the last page. */
  readonly nextToken?: string;
  /** The number of records on all pages, if it was asked for and could be counted. */
  readonly total?: number;
  /** Whether rows were left out because the caller may not see them. */
  readonly filteredByAcls: boolean;
}

export interface ListQuestion {
  readonly run: ListRun;
  readonly input: Input;
  readonly shared: SharedQuery;
  readonly authorizer: Authorizer;
  readonly request: Pick<Request, 'onGone' | 'follower'>;
  /** Called for a bug after the answer has begun. */
  readonly onFailure: (thrown: unknown) => void;
}

/**
 * Filtering, paging and visibility of every list (docs/contract/http.md#lists).
 *
 * Invariants
 *  L1. A short list is made at once, without a promise. A long list is made in turns (`turns.ts`)
 *      over a single snapshot, so that other requests continue.
 *  L2. The first pass over a long list finds its rows and reads all their dependencies. After it,
 *      headers and index are known, and no refusal is possible. A second pass writes the text at the
 *      reader's pace. Only references to rows are kept, never the whole text.
 *  L3. Work stops when the caller disconnects.
 */
export class Lister {
  readonly #turns: Turns;
  readonly #texts: KeptTexts;
  readonly #kept: KeptLists;
  /** The last filter of each schema. A blocking query uses it again for each answer. */
  readonly #compiled = new WeakMap<TSchema, { expression: string; matches: Predicate }>();

  constructor(turns: Turns, { texts, kept }: { texts: KeptTexts; kept: KeptLists }) {
    this.#turns = turns;
    this.#texts = texts;
    this.#kept = kept;
  }

  /** Answers a long list by a promise, which gives `undefined` if the caller disconnects. */
  page(question: ListQuestion): Page | Promise<Page | undefined> {
    const { run, input, shared, authorizer } = question;
    const filter = this.#filter(question);
    const gather = run.gather?.(input);
    const from = shared.next_token === '' ? undefined : decodeToken(shared.next_token);
    const perPage = perPageOf(shared, gather);
    const options = { run, input, authorizer, filter, from, perPage };
    const kept = gather === undefined ? this.#kept.walkOf(options, question) : undefined;
    const pageOf = (walk: Walk = walkOf(options, shared)) =>
      gather === undefined ? this.#pageOf(question, walk) : this.#gathered(question, walk, gather);
    if (!(kept instanceof Promise)) return pageOf(kept);
    return kept.then((walk) => (walk === 'gone' ? undefined : pageOf(walk)));
  }

  #gathered(
    question: ListQuestion,
    walk: Walk,
    gather: Gather<unknown>,
  ): Page | Promise<Page | undefined> {
    const { run, input, request } = question;
    const items: unknown[] = [];
    const show = (row: unknown) => items.push(run.present(row, input));
    const step = measuredStep(() => walk.go(limits.list.rowsPerStep, show), request);
    const made = () => ({ value: gather.of(items), ...whatElse(walk) });
    if (this.#turns.begin(step)) return made();
    return this.#whilePresent(question, step).then((done) => (done ? made() : undefined));
  }

  #pageOf(question: ListQuestion, walk: Walk): Page | Promise<Page | undefined> {
    const { form, recordOf } = this.#formOf(question, walk);
    const items: unknown[] = [];
    const show = (row: unknown) => items.push(recordOf(row));
    const step = measuredStep(() => walk.go(limits.list.rowsPerStep, show), question.request);
    const isMade = this.#turns.begin(step);
    if (!isMade) return this.#inTurns(question, walk, { form, recordOf, shown: items, rows: [] });
    if (form !== listForms.kept) return { value: items, ...whatElse(walk) };
    question.request.follower?.onRows(items as string[]);
    const text = new ListText(form);
    return { body: text.next(items) + text.end(), ...whatElse(walk) };
  }

  /** How the records of the list become text. */
  #formOf(
    { run, input, shared, request }: ListQuestion,
    { textOf: keptText }: Walk,
  ): Pick<LongList, 'form' | 'recordOf'> {
    const recordOf = (row: unknown) => run.present(row, input);
    if (shared.pretty) return { form: listForms.pretty, recordOf };
    const kept = (textOf: (row: unknown) => string) => ({ form: listForms.kept, recordOf: textOf });
    if (keptText !== undefined) return kept((row) => keptText(row, recordOf));
    const otherOf = run.shows?.(input);
    if (otherOf !== undefined) {
      return kept((row) => this.#texts.textOf(row as object, otherOf(row), recordOf));
    }
    // A follower compares the rows by their texts.
    if (request.follower !== undefined) return kept((row) => JSON.stringify(recordOf(row)));
    return { form: listForms.plain, recordOf };
  }

  async #inTurns(question: ListQuestion, walk: Walk, list: LongList): Promise<Page | undefined> {
    const { rows } = list;
    const { run, input, onFailure } = question;
    const { reads = run.present } = run;
    const note = (row: unknown) => {
      reads(row, input);
      rows.push(row);
    };
    const step = measuredStep(() => walk.go(limits.list.rowsPerStep, note), question.request);
    if (!(await this.#whilePresent(question, step))) return undefined;
    const body = longListBody(list, this.#turns, { request: question.request, onFailure });
    return { body, ...whatElse(walk) };
  }

  /** Takes turns until all steps are done; `false`: the caller disconnected. */
  async #whilePresent({ request }: ListQuestion, step: Step): Promise<boolean> {
    let isGone = false;
    const stay = request.onGone?.(() => {
      isGone = true;
    });
    try {
      while (!(await this.#turns.take(() => isGone || step())));
    } finally {
      stay?.();
    }
    return !isGone;
  }

  #filter({ run, input, shared }: ListQuestion): Predicate | undefined {
    const { filter: expression } = shared;
    if (expression === '') return undefined;
    const schema = run.filterSchema(input);
    const known = this.#compiled.get(schema);
    if (known?.expression === expression) return known.matches;
    const matches = filterOn(expression, schema);
    this.#compiled.set(schema, { expression, matches });
    return matches;
  }
}

/** Gathered records are held in memory, so their pages are bounded. */
function perPageOf(shared: SharedQuery, gather: Gather<unknown> | undefined): number {
  if (gather === undefined) return shared.per_page;
  return gather.countMax === undefined ? 0 : shared.per_page || gather.countMax;
}

const whatElse = ({ nextKey, total, filteredByAcls }: Walk) => ({
  filteredByAcls,
  ...(nextKey && { nextToken: encodeToken(nextKey) }),
  ...(total !== undefined && { total }),
});

/** @throws RosterError `invalid-query` */
function walkOf(options: Omit<WalkOptions, 'rows'>, shared: SharedQuery): Walk {
  const { run, input, perPage, from } = options;
  const { reverse, total } = shared;
  const every = () => run.rows(input, { from: undefined, reverse: false });
  if (shared.sort) {
    const { sorts } = run;
    const { sortedPerPageMax } = limits.list;
    const faultOf = (parameter: string, reason: string) =>
      refusal('invalid-query', { parameter, reason });
    if (!sorts.includes(shared.sort)) {
      throw faultOf('sort', `must be one of ${sorts.join(', ')}`);
    }
    if (perPage === 0 && shared.per_page > 0) {
      throw faultOf('sort', 'must not be given for a choice among all records');
    }
    if (perPage < 1 || perPage > sortedPerPageMax) {
      throw faultOf('per_page', `must be from 1 to ${sortedPerPageMax} where "sort" is given`);
    }
    const order = { field: shared.sort, isDescending: reverse, from };
    return new SortedWalk({ ...options, rows: every() }, order);
  }
  const page = { ...options, rows: run.rows(input, { from, reverse }) };
  if (!total) return new ListWalk(page);
  if (from === undefined) return new ListWalk({ ...page, counts: true });
  return new CountedWalk(
    new ListWalk({ ...options, rows: every(), perPage: 0, counts: true }),
    page,
  );
}

/** Joins the parts of a key into an opaque text. Percent-encoding keeps dots out of the parts. */
const encodeToken = (key: readonly string[]): string =>
  key.map((part) => encodeURIComponent(part).replaceAll('.', '%2E')).join('.');

function decodeToken(token: string): readonly string[] {
  const key = token.split('.').map(decodePart);
  if (key.every((part) => part !== undefined && !part.includes('\0'))) return key as string[];
  const reason = 'must be the NextToken header of a page before';
  throw refusal('invalid-query', { parameter: 'next_token', reason });
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** The start of a page in a table or index whose keys begin with the partition. */
export const scanPage = ({ from, reverse }: PageStart) => ({
  ...(from && { from: [defaultPartition, ...from] }),
  reverse,
});
