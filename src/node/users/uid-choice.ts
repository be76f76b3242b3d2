/** The choice of the next user id. Pure. */
import { contains, endOf, overlaps, type UidRange } from '../../model/node/uid-range.ts';
import { uidLimits } from '../limits.ts';

/**
 * The first free id after the last one that was leased, in a circle over all slices: so a returned
 * id is not used again before all others.
 */
export function nextUid(
  slices: readonly UidRange[],
  isHeld: (uid: number) => boolean,
  last: number,
): number | undefined {
  const at = Math.max(
    0,
    slices.findIndex((slice) => contains(slice, last)),
  );
  const current = slices[at];
  if (current === undefined) return undefined;
  const begin = contains(current, last) ? last + 1 : current.start;
  const around = [
    { start: begin, count: endOf(current) - begin },
    ...slices.slice(at + 1),
    ...slices.slice(0, at),
    { start: current.start, count: begin - current.start },
  ];
  for (const slice of around) {
    for (let uid = slice.start; uid < endOf(slice); uid++) if (!isHeld(uid)) return uid;
  }
  return undefined;
}

export const sliceSize = ({ count }: UidRange): number =>
  Math.min(uidLimits.sliceMax, Math.max(1, Math.floor(count / uidLimits.slicesMin)));

export interface SliceRoom {
  readonly range: UidRange;
  /** Ranges in use by others. */
  readonly taken: readonly UidRange[];
  /** Ranges that this process can use at all. */
  readonly mapped: readonly UidRange[];
}

/** A part of the range that nobody has, or `undefined`. */
export function freeSlice({ range, taken, mapped }: SliceRoom): UidRange | undefined {
  const size = sliceSize(range);
  for (let start = range.start; start < endOf(range); start += size) {
    const slice = { start, count: Math.min(size, endOf(range) - start) };
    const isMapped = mapped.some((one) => contains(one, slice.start) && endOf(slice) <= endOf(one));
    if (isMapped && !taken.some((one) => overlaps(one, slice))) return slice;
  }
  return undefined;
}
