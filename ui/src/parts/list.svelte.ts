/**
 * A list of the API as a page shows it: a window of at most 500 rows that follows the server. "Load more" widens the
 * window, and then moves it.
 */
import { addressState } from '../app/address.svelte.ts';
import type { ShownProblem } from '../app/problems.ts';
import { apiPath, router } from '../app/router.svelte.ts';
import { query } from '../live/query.svelte.ts';
import { type Column, type Order, orderOf } from './columns.ts';
import { both, filterOf } from './filter.ts';

const pageRows = 100;
const windowRowsMax = 500;

type Values = Readonly<Record<string, string | number | boolean | undefined>>;

export interface List<Row> {
  readonly rows: readonly Row[];
  readonly problem: ShownProblem | undefined;
  readonly isLoading: boolean;
  readonly isOld: boolean;
  readonly isStale: boolean;
  readonly receivedMs: number;
  readonly asOfMs: number;
  /** The number of all rows, in the window or not; `undefined`: not known. */
  readonly total: number | undefined;
  /** There are rows after the window. */
  readonly hasMore: boolean;
  /** The window does not begin at the first row. */
  readonly isMoved: boolean;
  /** The next rows come in place of these. */
  readonly isFull: boolean;
  /** The records of the window: several rows may be made of each. */
  readonly recordCount: number;
  readonly windowMax: number;
  /** What `total` counts, if not the rows. */
  readonly counted?: string | undefined;
  more(): void;
  toStart(): void;
}

/** `path` is without `per_page`; `undefined` asks nothing. The window starts again when the path changes. */
export function list<Row>(
  path: () => string | undefined,
  values: () => Values = () => ({}),
  windowMax = windowRowsMax,
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
    get isStale() {
      return asked.isStale;
    },
    get receivedMs() {
      return asked.receivedMs;
    },
    get asOfMs() {
      return asked.asOfMs;
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
    get recordCount() {
      return asked.value?.length ?? 0;
    },
    windowMax,
    get isFull() {
      return rows >= windowMax;
    },
    more() {
      if (rows < windowMax) grown = { base, rows: Math.min(windowMax, rows + pageRows) };
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

/** A list with a filter field, whose text stands in the address. */
export interface Records<Row> extends List<Row> {
  text: string;
  /** The filter of the request; `undefined`: all records. */
  readonly filter: string | undefined;
  /** The list is too long to be sorted by the server, so its usual order is that of its ids. */
  readonly isUnsorted: boolean;
  /** The request without its window. */
  readonly request: string;
}

export interface RecordsOptions {
  /** The fields in which plain words are looked for. */
  readonly words: readonly string[];
  /** Further values of the request. */
  readonly where?: () => Values;
  /** A filter beside that of the field, such as that of a choice. */
  readonly only?: () => string | undefined;
  /** The server sorts by those with a `field`. */
  readonly columns?: () => readonly Pick<Column<never>, 'key' | 'field'>[];
  /** The order of the request if the reader has chosen none. */
  readonly order?: Order;
  /** The most records of a window, if each is several rows. */
  readonly windowMax?: number;
  /** What the server counts, if it is not the rows: "called services". */
  readonly counted?: string;
}

/** The records of a path, for `RecordList` and `ListPage`. A path of `undefined` asks nothing. */
export function records<Row>(
  path: string | (() => string | undefined),
  { words, where, only, columns, order, windowMax, counted }: RecordsOptions,
): Records<Row> {
  const pathOf = typeof path === 'string' ? () => path : path;
  const text = addressState<string>('filter', '');
  const filter = $derived(both(only?.(), filterOf(text.value, words)));
  const valuesOf = () => ({ ...where?.(), filter });
  let isUnsorted = $state(false);
  const orderNow = () =>
    orderOf(columns?.() ?? [], router.query('sort'), isUnsorted ? undefined : order);
  const source = list<Row>(pathOf, () => ({ ...valuesOf(), ...orderNow() }), windowMax);
  $effect(() => {
    if (source.problem?.code === 'too-many-to-sort') isUnsorted = true;
  });
  return Object.create(source, {
    text: {
      get: () => text.value,
      set: (value: string) => {
        text.value = value;
      },
    },
    filter: { get: () => filter },
    isUnsorted: { get: () => isUnsorted },
    counted: { value: counted },
    request: { get: () => apiPath(pathOf() ?? '', valuesOf()) },
  }) as Records<Row>;
}

/** The same records with rows that are made of them, for answers that group what a page shows row by row. */
export function rowsOfRecords<From, Row>(
  source: Records<From>,
  rowsOf: (rows: readonly From[]) => readonly Row[],
): Records<Row> {
  const rows = $derived(rowsOf(source.rows));
  return Object.create(source, { rows: { get: () => rows } }) as Records<Row>;
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
