import type { TSchema } from 'typebox';
import type { Authorizer } from '../acl/authorizer.ts';
import type { Step } from '../base/slices.ts';
import type { SharedQuery } from '../contract/shared-query.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { defaultPartition, everyNamespace } from '../model/namespace/namespace.ts';
import { filterOn } from './filter.ts';
import type { Request } from './http.ts';
import { ListWalk, type Predicate, type RowFunctions } from './list-walk.ts';
import { type LongList, longListBody } from './long-list.ts';
import type { Gather, Input, ListRun, PageStart } from './route.ts';
import type { Turns } from './turns.ts';

export interface Page {
  /** What the answer holds, unless that is long: then it is written while it is read. */
  readonly value?: readonly unknown[];
  readonly body?: AsyncIterable<Uint8Array>;
  /** Where the next page begins; absent on the last one. */
  readonly nextToken?: string;
  /** Some rows were left out because the caller may not see them. */
  readonly filteredByAcls: boolean;
}

/** One question for a list. */
export interface ListQuestion {
  readonly run: ListRun;
  readonly input: Input;
  readonly shared: SharedQuery;
  readonly authorizer: Authorizer;
  readonly request: Pick<Request, 'onGone'>;
  /** Told of a bug that shows only when the answer has begun. */
  readonly onFailure: (thrown: unknown) => void;
}

/**
 * Filtering, paging and visibility of every list (docs/contract/http.md#lists).
 *
 * Invariants
 *  L1. A list that is quickly made is made at once, without a promise. A long one is made in turns,
 *      so that it holds up nobody (`turns.ts`), over the one snapshot that it began with.
 *  L2. The first pass over a long list finds out what is in it and reads all that it depends on:
 *      then headers and index are known, and whatever can be refused has been. Only then is its
 *      text made, in a second pass, as fast as the reader takes it: what is kept of a list are
 *      references to its rows, never the whole text.
 *  L3. Nothing more is done for a caller who is gone.
 */
export class Lister {
  readonly #turns: Turns;
  /** The filter compiled last, by schema: a blocking query asks the same again and again. */
  readonly #compiled = new WeakMap<TSchema, { expression: string; matches: Predicate }>();

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** A promise when the list is long; of `undefined` when the caller is gone. */
  page(question: ListQuestion): Page | Promise<Page | undefined> {
    const { run, input, shared, authorizer } = question;
    const filter = this.#filter(question);
    const gather = run.gather?.(input) as Gather<unknown> | undefined;
    const from = shared.next_token === '' ? undefined : decodeToken(shared.next_token);
    // The route's own functions and its rows fit each other; only the types are forgotten here.
    const row = run as unknown as RowFunctions;
    const walk = new ListWalk({
      ...{ row, input, authorizer, filter, perPage: perPageOf(shared, gather) },
      rows: run.rows(input, { from, reverse: shared.reverse }),
      asksEach: input.namespace === everyNamespace || run.asksEach === true,
    });
    const items: unknown[] = [];
    const show = (one: unknown) => items.push(row.present(one, input));
    const step = () => walk.go(limits.list.rowsPerStep, show);
    const isMade = this.#turns.begin(step);
    if (gather !== undefined) {
      const made = () => ({ value: gather.of(items), ...whatElse(walk) });
      return isMade
        ? made()
        : this.#whilePresent(question, step).then((done) => (done ? made() : undefined));
    }
    if (isMade) return { value: items, ...whatElse(walk) };
    return this.#inTurns(question, walk, { row, shown: items, rows: [] });
  }

  async #inTurns(
    question: ListQuestion,
    walk: ListWalk,
    list: LongList,
  ): Promise<Page | undefined> {
    const { row, rows } = list;
    const { input, shared, onFailure } = question;
    const { reads = row.present } = row;
    const note = (one: unknown) => {
      reads(one, input);
      rows.push(one);
    };
    const step: Step = () => walk.go(limits.list.rowsPerStep, note);
    if (!(await this.#whilePresent(question, step))) return undefined;
    const body = longListBody(list, {
      input,
      pretty: shared.pretty,
      turns: this.#turns,
      onFailure,
    });
    return { body, ...whatElse(walk) };
  }

  /** Takes steps in turns until there are no more; `false` when the caller is gone. */
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
    const { filterSchema } = run;
    const schema = typeof filterSchema === 'function' ? filterSchema(input) : filterSchema;
    const known = this.#compiled.get(schema);
    if (known?.expression === expression) return known.matches;
    const matches = filterOn(expression, schema);
    this.#compiled.set(schema, { expression, matches });
    return matches;
  }
}

/** What is gathered is held and written at once, so a page of it has a bound. */
function perPageOf(shared: SharedQuery, gather: Gather<unknown> | undefined): number {
  if (gather === undefined) return shared.per_page;
  return gather.countMax === undefined ? 0 : shared.per_page || gather.countMax;
}

const whatElse = ({ nextKey, filteredByAcls }: ListWalk) => ({
  filteredByAcls,
  ...(nextKey && { nextToken: encodeToken(nextKey) }),
});

/** Keys become one opaque word: parts are percent-encoded, so the dot between them is safe. */
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

/** Where a scan of a namespaced table or index begins, for a page. */
export const scanPage = ({ from, reverse }: PageStart) => ({
  ...(from && { from: [defaultPartition, ...from] }),
  reverse,
});
