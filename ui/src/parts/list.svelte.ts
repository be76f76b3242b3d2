/**
 * A list of the API as a page shows it: a window of at most 500 rows that follows the server. "Load more" widens the
 * window, and then moves it.
 */
import type { ShownProblem } from '../app/problems.ts';
import { apiPath, router } from '../app/router.svelte.ts';
import { query } from '../live/query.svelte.ts';

const pageRows = 100;
const windowRowsMax = 500;

type Values = Readonly<Record<string, string | number | boolean | undefined>>;

export interface List<Row> {
  readonly rows: readonly Row[];
  readonly problem: ShownProblem | undefined;
  readonly isLoading: boolean;
  readonly isOld: boolean;
  readonly receivedMs: number;
  /** The number of all rows, in the window or not; `undefined`: not known. */
  readonly total: number | undefined;
  /** There are rows after the window. */
  readonly hasMore: boolean;
  /** The window does not begin at the first row. */
  readonly isMoved: boolean;
  /** The next rows come in place of these. */
  readonly isFull: boolean;
  more(): void;
  toStart(): void;
}

/** `path` is without `per_page`; `undefined` asks nothing. The window starts again when the path changes. */
export function list<Row>(
  path: () => string | undefined,
  values: () => Values = () => ({}),
): List<Row> {
  const base = $derived.by(() => {
    const given = path();
    return given === undefined ? undefined : apiPath(given, values());
  });
  let grown = $state<{ readonly base: string | undefined; readonly rows: number }>({
    base: undefined,
    rows: pageRows,
  });
  const rows = $derived(grown.base === base ? grown.rows : pageRows);
  const start = startOf(() => base);
  const asked = query<readonly Row[]>(() => {
    if (base === undefined) return undefined;
    const page = apiPath('', { per_page: rows, next_token: start(), total: true }).slice(1);
    return `${base}${base.includes('?') ? '&' : '?'}${page}`;
  });
  return {
    get rows() {
      return asked.value ?? [];
    },
    get problem() {
      return asked.problem;
    },
    get isLoading() {
      return asked.isLoading;
    },
    get isOld() {
      return asked.isOld;
    },
    get receivedMs() {
      return asked.receivedMs;
    },
    get total() {
      return asked.total;
    },
    get hasMore() {
      return asked.nextToken !== undefined;
    },
    get isMoved() {
      return start() !== undefined;
    },
    get isFull() {
      return rows >= windowRowsMax;
    },
    more() {
      if (rows < windowRowsMax) grown = { base, rows: Math.min(windowRowsMax, rows + pageRows) };
      else if (asked.nextToken !== undefined) {
        router.setQuery('from', asked.nextToken, { push: true });
        scrollTo(0, 0);
      }
    },
    toStart() {
      router.setQuery('from', undefined, { push: true });
    },
  };
}

/** The same list with rows that are made of its own, for answers that group what a page shows row by row. */
export function listOf<From, Row>(
  source: List<From>,
  rowsOf: (rows: readonly From[]) => readonly Row[],
): List<Row> {
  const rows = $derived(rowsOf(source.rows));
  return Object.create(source, { rows: { get: () => rows, enumerable: true } }) as List<Row>;
}

/** Where the window begins. A place belongs to its filter and its order: with others the window begins at the first row. */
function startOf(base: () => string | undefined): () => string | undefined {
  let begun: { readonly base: string | undefined; readonly start: string | undefined } = {
    base: undefined,
    start: undefined,
  };
  const start = $derived.by(() => {
    const [now, wanted] = [base(), router.query('from')];
    if (begun.base !== undefined && wanted === begun.start && now !== begun.base) return undefined;
    begun = { base: now, start: wanted };
    return wanted;
  });
  $effect(() => {
    if (start === undefined && router.query('from') !== undefined) {
      router.setQuery('from', undefined);
    }
  });
  return () => start;
}
