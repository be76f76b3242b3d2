/** The props of a list of records. */
import type { Component, Snippet } from 'svelte';
import type { Act } from '../app/page.svelte.ts';
import type { Column } from './columns.ts';
import type { Records } from './list.svelte.ts';

export interface RecordListProps<Row> {
  /** "Roles". */
  label: string;
  /** "role". */
  noun: string;
  of: Records<Row>;
  columns: readonly Column<Row>[];
  key: (row: Row) => string;
  /** An expression that suits the filter. */
  example: string;
  /** The page of the row. */
  href?: ((row: Row) => string) | undefined;
  /** Of each row, as small buttons at its end. */
  acts?: ((row: Row) => readonly Act[]) | undefined;
  /** Changes with the row. Absent: its ModifyIndex. */
  revision?: ((row: Row) => string | number) | undefined;
  /** The order of the server: "by name". */
  order?: string | undefined;
  /** Of the filter field. Absent: "Filter the roles". */
  filterLabel?: string | undefined;
  /** Choices beside the filter field. */
  beside?: Snippet | undefined;
  /** Of the list without records. */
  icon?: Component | undefined;
  none?: string | undefined;
  /** How to make the first record: words of the command line. */
  command?: readonly string[] | undefined;
  /** Advice for a list without records; hears whether records are only left out by a filter. */
  empty?: Snippet<[boolean]> | undefined;
  /** Fewer records than all are asked for. Absent: by the filter. */
  isNarrowed?: boolean | undefined;
}
