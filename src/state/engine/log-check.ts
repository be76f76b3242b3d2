import { crc32 } from 'node:zlib';
import type { Bytes } from '../codec.ts';
import { StateCorrupted } from '../errors.ts';
import type { Batch } from './engine.ts';

/** A batch as a log keeps it. `sequence` counts batches, from 1. */
export interface LogRecord extends Batch {
  readonly sequence: number;
  readonly checksum: number;
}

/** A part of a snapshot as a store keeps it. `ordinal` counts from 0. */
export interface PartRecord {
  readonly ordinal: number;
  readonly bytes: Bytes;
  readonly checksum: number;
}

/** A complete snapshot. A store writes this record after all parts. */
export interface SnapshotRecord {
  readonly index: number;
  /** The last batch that it covers. */
  readonly sequence: number;
  readonly parts: number;
}

export const noSnapshot: SnapshotRecord = { index: 0, sequence: 0, parts: 0 };

export function batchChecksum(sequence: number, batch: Batch): number {
  return crc32(batch.bytes, crc32(`${sequence}:${batch.firstIndex}:${batch.lastIndex}`));
}

export function partChecksum(snapshotIndex: number, ordinal: number, bytes: Bytes): number {
  return crc32(bytes, crc32(`${snapshotIndex}:${ordinal}`));
}

/** Throws `StateCorrupted` unless this is the part with that ordinal, unaltered. */
export function checkPart(snapshot: SnapshotRecord, ordinal: number, part: PartRecord): void {
  const place = `part ${ordinal} of the snapshot at index ${snapshot.index}`;
  if (part.ordinal !== ordinal) throw new StateCorrupted(place, 'it is missing');
  if (partChecksum(snapshot.index, ordinal, part.bytes) !== part.checksum) {
    throw new StateCorrupted(place, 'its checksum does not match');
  }
}

/** Throws `StateCorrupted` unless all parts of the snapshot were seen. */
export function checkParts(snapshot: SnapshotRecord, seen: number): void {
  if (seen === snapshot.parts) return;
  throw new StateCorrupted(
    `the snapshot at index ${snapshot.index}`,
    `${seen} of its ${snapshot.parts} parts are there`,
  );
}

/** Checks the batches of a log in order: each is unaltered, and none is missing. */
export class LogCheck {
  #sequence: number;
  #index: number;

  constructor(snapshot: SnapshotRecord) {
    this.#sequence = snapshot.sequence;
    this.#index = snapshot.index;
  }

  /** The sequence of the last batch that was checked. */
  get sequence(): number {
    return this.#sequence;
  }

  /** The last index of that batch. */
  get index(): number {
    return this.#index;
  }

  next(record: LogRecord): void {
    const place = `batch ${record.sequence} of the log`;
    if (record.sequence !== this.#sequence + 1) {
      const missing = `batch ${this.#sequence + 1} of the log`;
      throw new StateCorrupted(missing, `it is missing; the next is batch ${record.sequence}`);
    }
    if (batchChecksum(record.sequence, record) !== record.checksum) {
      throw new StateCorrupted(place, 'its checksum does not match');
    }
    if (record.firstIndex !== this.#index + 1 || record.lastIndex < record.firstIndex) {
      throw new StateCorrupted(place, `it does not follow index ${this.#index}`);
    }
    this.#sequence = record.sequence;
    this.#index = record.lastIndex;
  }

  /** Throws `StateCorrupted` if the log ends before the last acknowledged batch. */
  end(acknowledged: number): void {
    if (this.#sequence >= acknowledged) return;
    throw new StateCorrupted(
      'the end of the log',
      `it ends with batch ${this.#sequence}, but batch ${acknowledged} was acknowledged`,
    );
  }
}
