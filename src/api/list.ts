import type { Authorizer } from '../acl/authorizer.ts';
import type { Permission } from '../acl/permission.ts';
import { compileFilter, FilterError } from '../language/filter/filter.ts';
import { refusal } from '../model/errors.ts';
import { defaultPartition, everyNamespace } from '../model/namespace/namespace.ts';
import type { Input, ListRun, PageStart } from './route.ts';
import type { SharedQuery } from './shared-query.ts';
import { shownSchema } from './shown-schema.ts';

export interface Page {
  readonly items: readonly unknown[];
  /** Where the next page begins; absent on the last one. */
  readonly nextToken?: string;
  /** Some rows were left out because the caller may not see them. */
  readonly filteredByAcls: boolean;
}

interface ErasedRun {
  readonly matches?: (row: unknown, input: Input) => boolean;
  readonly visible?: (row: unknown) => Permission;
  readonly record?: (row: unknown, input: Input) => unknown;
  readonly keyOf: (row: unknown) => readonly string[];
  readonly present: (row: unknown, input: Input) => unknown;
}

type Predicate = (record: unknown) => boolean;

/** Filtering, paging and visibility of every list (DESIGN §5 "Lists", facts/scheduler.md §1.6). */
export class Lister {
  /** The filter compiled last, by list: a blocking query asks the same again and again. */
  readonly #compiled = new WeakMap<ListRun, { expression: string; matches: Predicate }>();

  page(run: ListRun, input: Input, shared: SharedQuery, authorizer: Authorizer): Page {
    const filter = this.#filter(run, shared.filter);
    // The route's own functions and its rows fit each other; only the types are forgotten here.
    const { matches, visible, record, keyOf, present } = run as unknown as ErasedRun;
    const from = shared.next_token === '' ? undefined : decodeToken(shared.next_token);
    const everywhere = input.namespace === everyNamespace || run.asksEach === true;
    const items: unknown[] = [];
    let filteredByAcls = false;
    for (const row of run.rows(input, { from, reverse: shared.reverse })) {
      if (matches !== undefined && !matches(row, input)) continue;
      if (everywhere && visible !== undefined && !authorizer.allows(visible(row))) {
        filteredByAcls = true;
        continue;
      }
      if (filter !== undefined && !filter(record === undefined ? row : record(row, input)))
        continue;
      if (shared.per_page > 0 && items.length === shared.per_page) {
        return { items, nextToken: encodeToken(keyOf(row)), filteredByAcls };
      }
      items.push(present(row, input));
    }
    return { items, filteredByAcls };
  }

  #filter(run: ListRun, expression: string): Predicate | undefined {
    if (expression === '') return undefined;
    const known = this.#compiled.get(run);
    if (known?.expression === expression) return known.matches;
    try {
      const matches = compileFilter(expression, shownSchema(run.filterSchema));
      this.#compiled.set(run, { expression, matches });
      return matches;
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      throw refusal('invalid-filter', { position: error.offset, reason: error.sentence });
    }
  }
}

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
