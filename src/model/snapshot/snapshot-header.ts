import { About, FullList, Instant, type Model, Text, Type, Whole } from '../schema.ts';

const TableSchema = Type.Object({
  Name: Text(),
  Version: About('Version of the stored form of its rows.', Whole()),
  Rows: About('Number of rows.', Whole()),
});

/** The head of a saved snapshot. */
export const SnapshotHeaderSchema = Type.Object({
  Format: About('Version of the format of the file.', Whole()),
  Version: About('Version of the program that saved it.', Text()),
  ClusterID: About('Id of the cluster that it was saved from.', Text()),
  Index: About('Index of the state that it holds.', Whole()),
  CreateTime: About('When it was saved: Unix nanoseconds.', Instant()),
  Tables: FullList(TableSchema),
});
export type SnapshotHeader = Model<typeof SnapshotHeaderSchema>;

/** Rows of a table, in a file. */
export interface SnapshotRows {
  readonly Table: string;
  readonly Version: number;
  readonly Rows: readonly unknown[];
}

/** Whether a value that was read has the fields of a header. */
export function isHeader(value: unknown): value is SnapshotHeader {
  if (typeof value !== 'object' || value === null) return false;
  const header = value as Partial<SnapshotHeader>;
  return (
    isWhole(header.Format) &&
    typeof header.Version === 'string' &&
    typeof header.ClusterID === 'string' &&
    isWhole(header.Index) &&
    typeof header.CreateTime === 'number' &&
    Array.isArray(header.Tables) &&
    header.Tables.every((table: unknown) => isTable(table))
  );
}

function isTable(value: unknown): boolean {
  const table = value as Partial<SnapshotHeader['Tables'][number]> | null;
  return typeof table?.Name === 'string' && isWhole(table.Version) && isWhole(table.Rows);
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const nameForm = /^roster-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-\d+\.snapshot$/;

export const isSnapshotName = (name: string): boolean => nameForm.test(name);

/** When the snapshot of that name was saved, to the second. */
export function savedMsIn(name: string): number {
  const [, year, month, day, hour, minute, second] = nameForm.exec(name) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** `roster-20260102T030405Z-1234.snapshot`: names in the order of their times. */
export const snapshotName = ({ CreateTime, Index }: Pick<SnapshotHeader, 'CreateTime' | 'Index'>) =>
  `roster-${new Date(Math.round(CreateTime / 1e6)).toISOString().replace(/[-:]|\.\d+/g, '')}-${Index}.snapshot`;
