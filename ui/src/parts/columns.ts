import type { Snippet } from 'svelte';

export interface Column<Row> {
  /** Also the name in the address when the list is sorted by it. */
  readonly key: string;
  readonly title: string;
  readonly cell: Snippet<[Row]>;
  /** A CSS length; columns without one share the rest. */
  readonly width?: string | undefined;
  readonly align?: 'end' | undefined;
  /** By which the rows of the window are sorted. Absent, without `field` too: not sortable. */
  readonly sort?: ((row: Row) => string | number) | undefined;
  /** The field by which the server sorts the whole list; the page puts `orderOf(columns, …)` into its request. */
  readonly field?: string | undefined;
  /** 2 is hidden below 1100 pixels, 3 below 1400; 1 stays. On telephones 1 and 2 are shown, one below the other. */
  readonly priority?: 1 | 2 | 3 | undefined;
}

/** Of the request of a list: the order that the reader has chosen, where the server knows it. */
export function orderOf(
  columns: readonly Pick<Column<never>, 'key' | 'field'>[],
  sort: string | undefined,
): { readonly sort?: string; readonly reverse?: true } {
  const field = columns.find(({ key }) => key === sort?.replace(/^-/, ''))?.field;
  if (field === undefined) return {};
  return { sort: field, ...(sort!.startsWith('-') && { reverse: true }) };
}

/** Rows in the order of `sort` (`name`, `-name`); without it, in the order of the server. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string,
): readonly Row[] {
  const isDescending = sort.startsWith('-');
  const column = columns.find(({ key }) => key === sort.replace(/^-/, ''));
  const by = column?.sort;
  if (by === undefined || column?.field !== undefined) return rows;
  const compared = rows.toSorted((a, b) => compare(by(a), by(b)));
  return isDescending ? compared.toReversed() : compared;
}

const collator = new Intl.Collator('en', { numeric: true });

function compare(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : collator.compare(String(a), String(b));
}

/** After a click on the head of a column: up, down, and back to the order of the server. */
export function nextSort(now: string, key: string): string {
  if (now === key) return `-${key}`;
  return now === `-${key}` ? '' : key;
}
