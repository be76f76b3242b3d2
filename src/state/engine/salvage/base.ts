import { noSnapshot, type SnapshotRecord } from '../log-check.ts';
import type { FoundBatch, FoundPieces } from './pieces.ts';

/** A snapshot, and the batches that follow it without a gap. */
export interface Base {
  readonly snapshot: SnapshotRecord;
  /** Whether its record is legible. Otherwise its number of parts is not known. */
  readonly isRecorded: boolean;
  /** Ordinals of its parts that are not there. */
  readonly missing: readonly number[];
  readonly batches: readonly FoundBatch[];
}

/** The index of the last batch that follows the base. */
export const endOf = ({ snapshot, batches }: Base): number =>
  batches.at(-1)?.lastIndex ?? snapshot.index;

/**
 * The base with which the least is lost: the newest snapshot if it is whole, otherwise an older whole one from which
 * the log still leads there. A snapshot exists when its record does, as for the agent.
 */
export function chooseBase(found: FoundPieces, acknowledged: number | undefined): Base {
  const bases = found.records.map((snapshot) => baseOf(found, snapshot, true));
  if (bases.length === 0) bases.push(...unrecorded(found, acknowledged));
  const isFromBeginning = found.batches.get(1)?.some(({ firstIndex }) => firstIndex === 1) === true;
  if (isFromBeginning || bases.length === 0) bases.push(baseOf(found, noSnapshot, true));
  const newest = bases.reduce((one, other) =>
    other.snapshot.index > one.snapshot.index ? other : one,
  );
  if (isSound(newest)) return newest;
  const reaching = bases.filter((one) => isSound(one) && endOf(one) >= newest.snapshot.index);
  return reaching.sort((one, other) => endOf(other) - endOf(one))[0] ?? newest;
}

const isSound = ({ isRecorded, missing }: Base): boolean => isRecorded && missing.length === 0;

function baseOf(found: FoundPieces, snapshot: SnapshotRecord, isRecorded: boolean): Base {
  const parts = found.parts.get(snapshot.index);
  const ordinals = Array.from({ length: snapshot.parts }, (_, ordinal) => ordinal);
  return {
    snapshot,
    isRecorded,
    missing: ordinals.filter((ordinal) => parts?.has(ordinal) !== true),
    batches: batchesAfter(found, snapshot),
  };
}

function batchesAfter({ batches }: FoundPieces, { sequence, index }: SnapshotRecord): FoundBatch[] {
  const chain: FoundBatch[] = [];
  let last = { sequence, lastIndex: index };
  for (;;) {
    const next = batches
      .get(last.sequence + 1)
      ?.find((one) => one.firstIndex === last.lastIndex + 1 && one.lastIndex >= one.firstIndex);
    if (next === undefined) return chain;
    chain.push(next);
    last = next;
  }
}

/**
 * The snapshot without any record: the oldest of which there are parts and from which the log leads to all newer
 * ones, since a snapshot that is being taken has no record either.
 */
function unrecorded(found: FoundPieces, acknowledged: number | undefined): Base[] {
  const indexes = [...found.parts.keys()].sort((one, other) => one - other);
  const all = [...found.batches.values()].flat();
  const bases = indexes.map((index) => {
    const next = all.find(({ firstIndex }) => firstIndex === index + 1);
    const sequence = next === undefined ? (acknowledged ?? 0) : next.sequence - 1;
    const parts = greatest(found.parts.get(index)!.keys()) + 1;
    return baseOf(found, { index, sequence, parts }, false);
  });
  const newest = bases.at(-1);
  return newest === undefined
    ? []
    : [bases.find((base) => endOf(base) >= newest.snapshot.index) ?? newest];
}

/** The greatest of the numbers, and at least `least`. */
export function greatest(numbers: Iterable<number>, least = 0): number {
  let found = least;
  for (const number of numbers) if (number > found) found = number;
  return found;
}
