import type { Snippet } from 'svelte';
import { instantMs } from './format.ts';

export interface Column<Row> {
  /** Also the name in the address when the list is sorted by it. */
  readonly key: string;
  readonly title: string;
  readonly cell?: Snippet<[Row]> | undefined;
  /** In place of `cell`: a text of anybody; `undefined` is shown as a dash. The rows are sorted by it. */
  readonly text?: ((row: Row) => string | number | undefined) | undefined;
  /** Of the text. `name` leads to the page of the row. */
  readonly look?: 'name' | 'second' | 'muted' | 'mono' | undefined;
  /** In place of `cell`: an instant, by which the rows are sorted. */
  readonly at?: ((row: Row) => string | number | null | undefined) | undefined;
  /** In place of an instant that never was. */
  readonly never?: string | undefined;
  /** A CSS length; columns without one share the rest. */
  readonly width?: string | undefined;
  readonly align?: 'end' | undefined;
  /** By which the rows are sorted once all of them are here. A cell without it and without `field` is not sortable. */
  readonly sort?: ((row: Row) => string | number) | undefined;
  /** The field by which the server sorts the whole list; `records` has to be given the columns. */
  readonly field?: string | undefined;
  /** 2 is hidden below 1100 pixels, 3 below 1400; 1 stays. On telephones 1 and 2 are shown, one below the other. */
  readonly priority?: 1 | 2 | 3 | undefined;
}

export type Order = { readonly sort?: string; readonly reverse?: true };

/** Of the request of a list: the order that the reader has chosen, where the server knows it; otherwise `usual`. */
export function orderOf(
  columns: readonly Pick<Column<never>, 'key' | 'field'>[],
  sort: string | undefined,
  usual: Order = {},
): Order {
  const field = columns.find(({ key }) => key === sort?.replace(/^-/, ''))?.field;
  if (field === undefined) return usual;
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
  const by = column === undefined ? undefined : sortOf(column);
  if (by === undefined || column?.field !== undefined) return rows;
  const compared = rows.toSorted((a, b) => compare(by(a), by(b)));
  return isDescending ? compared.toReversed() : compared;
}

/** How the rows of the window are sorted by a column; `undefined`: they are not. */
export function sortOf<Row>(column: Column<Row>): ((row: Row) => string | number) | undefined {
  const { sort, at, text } = column;
  if (sort !== undefined) return sort;
  if (at !== undefined) return (row) => instantMs(at(row)) ?? Number.MAX_SAFE_INTEGER;
  return text === undefined ? undefined : (row) => text(row) ?? '';
}

/** The namespace of each row. */
export const namespaceColumn = {
  key: 'namespace',
  title: 'Namespace',
  text: ({ Namespace }: { readonly Namespace: string }): string => Namespace,
  look: 'muted',
  width: '130px',
  priority: 2,
} as const;

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
