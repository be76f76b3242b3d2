import type { Bytes } from '../../codec.ts';
import { StateError } from '../../errors.ts';
import { EtcdError } from './client.ts';
import type { Front, LogReader } from './log-reader.ts';

/** The state of a copy. */
export interface CopyRecord {
  readonly index: number;
  /** Of the last batch. */
  readonly hash: string;
  /** Id of the cluster of servers. */
  readonly cluster: string;
  /** When that was last known to be the newest state, in Unix milliseconds. */
  readonly currentMs?: number | undefined;
}

export interface ReadCopy {
  readonly record: CopyRecord;
  /** The parts of a snapshot. */
  readonly parts: AsyncIterable<Bytes>;
}

/** A copy of the state on the machine of a server, so that a start does not read all of it from etcd. */
export interface LocalCopy {
  /** Resolves with `undefined` if there is none. Rejects if it is not whole, before the first part. */
  read(): Promise<ReadCopy | undefined>;
  /** Replaces it, as a whole or not at all. */
  keep(record: CopyRecord, parts: AsyncIterable<Bytes>): Promise<void>;
}

export interface FittingOptions {
  readonly copy?: LocalCopy | undefined;
  readonly reader: LogReader;
  /** Told why a copy is not used. */
  readonly report: (fault: unknown) => void;
}

/**
 * The copy, if the log as of the front goes on from it: the next batch names the hash of its last batch. Any
 * other copy is left alone.
 */
export async function fittingCopy(
  { copy, reader, report }: FittingOptions,
  front: Front,
): Promise<ReadCopy | undefined> {
  try {
    const read = await copy?.read();
    if (read === undefined) return undefined;
    const reason = await misfit(read.record, reader, front);
    if (reason === undefined) return read;
    report(new Error(`the copy of the state on this machine is not used: ${reason}`));
  } catch (error) {
    if (error instanceof EtcdError || error instanceof StateError) throw error;
    report(new Error('the copy of the state on this machine is not used', { cause: error }));
  }
  return undefined;
}

async function misfit(
  { index, hash, cluster }: CopyRecord,
  reader: LogReader,
  { head, revision }: Front,
): Promise<string | undefined> {
  if (cluster !== head?.cluster) return `it is of the cluster ${cluster}`;
  if (index > head.index) return `it is of index ${index}, and the log ends at ${head.index}`;
  const next = index === head.index ? undefined : await reader.entryAfter(index, revision);
  if (index < head.index && next?.first !== index + 1) {
    return `the log no longer has what follows its index ${index}`;
  }
  const goesOnFrom = next === undefined ? head.hash : next.previous;
  return goesOnFrom === hash ? undefined : `the log does not go on from its hash at index ${index}`;
}
