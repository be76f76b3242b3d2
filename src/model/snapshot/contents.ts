import { isClientTerminal, isServerTerminal } from '../allocation/allocation-rules.ts';
import { refusal } from '../errors.ts';
import { framesIn, rowsIn } from './snapshot-file.ts';
import type { SnapshotHeader } from './snapshot-header.ts';

/** A table in a file. */
export interface TableContents {
  readonly Name: string;
  readonly Version: number;
  readonly Rows: number;
  /** Bytes of the file. */
  readonly Bytes: number;
}

/** A job, as far as snapshot and server are compared. */
export interface JobState {
  readonly Namespace: string;
  readonly ID: string;
  /** Index of its last registration. */
  readonly JobModifyIndex: number;
  /** Whether it is to run. */
  readonly IsWanted: boolean;
}

/** An allocation, as far as snapshot and server are compared. */
export interface AllocationState {
  readonly ID: string;
  readonly Namespace: string;
  readonly JobID: string;
  readonly NodeID: string;
  /** Whether it runs or may run. */
  readonly IsRunning: boolean;
}

/** A whole file, read and checked. */
export interface SnapshotContents {
  readonly header: SnapshotHeader;
  readonly tables: readonly TableContents[];
  /** SHA-256 of the file up to its end. */
  readonly checksum: string;
  readonly jobs: readonly JobState[];
  readonly allocations: readonly AllocationState[];
}

interface StoredJob {
  readonly Namespace: string;
  readonly ID: string;
  readonly JobModifyIndex: number;
  readonly Stop: boolean;
  readonly Status: string;
}

export const jobState = (job: StoredJob): JobState => ({
  Namespace: job.Namespace,
  ID: job.ID,
  JobModifyIndex: job.JobModifyIndex,
  IsWanted: !job.Stop && job.Status !== 'dead',
});

type StoredAllocation = Omit<AllocationState, 'IsRunning'> &
  Parameters<typeof isClientTerminal>[0] &
  Parameters<typeof isServerTerminal>[0];

export const allocationState = (stored: StoredAllocation): AllocationState => {
  const { ID, Namespace, JobID, NodeID } = stored;
  const IsRunning = !isClientTerminal(stored) && !isServerTerminal(stored);
  return { ID, Namespace, JobID, NodeID, IsRunning };
};

/** Reads a whole file. @throws RosterError `snapshot-damaged`, `snapshot-too-new` */
export async function contentsOf(pieces: AsyncIterable<Uint8Array>): Promise<SnapshotContents> {
  let header: SnapshotHeader | undefined;
  let checksum = '';
  const tables = new Map<string, { Rows: number; Bytes: number }>();
  const jobs: JobState[] = [];
  const allocations: AllocationState[] = [];
  for await (const frame of framesIn(pieces)) {
    if (frame.kind === 'end') checksum = frame.checksum;
    else if (frame.kind === 'header') header = frame.header;
    else {
      const { Table, Rows } = rowsIn(frame.text);
      const known = tables.get(Table) ?? { Rows: 0, Bytes: 0 };
      tables.set(Table, {
        Rows: known.Rows + Rows.length,
        Bytes: known.Bytes + frame.bytes,
      });
      if (Table === 'jobs') jobs.push(...(Rows as StoredJob[]).map(jobState));
      if (Table === 'allocations') {
        allocations.push(...(Rows as StoredAllocation[]).map(allocationState));
      }
    }
  }
  const counted = header!.Tables.map(({ Name, Version, Rows }) => {
    const found = tables.get(Name) ?? { Rows: 0, Bytes: 0 };
    if (found.Rows !== Rows) throw refusal('snapshot-damaged', { reason: missing(Name) });
    return { Name, Version, ...found };
  });
  return { header: header!, tables: counted, checksum, jobs, allocations };
}

const missing = (table: string) =>
  `its table "${table}" has another number of rows than its header says`;
