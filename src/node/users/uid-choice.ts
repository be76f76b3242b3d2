/** Which user ids are taken next. Pure. */
import { contains, endOf, overlaps, type UidRange } from '../../model/node/uid-range.ts';

/**
 * The first free id after the last one that was taken, and from the first slice on after the last
 * slice: so an id that was given back rests until all others had their turn.
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

/** So that so many agents find room in a range, whatever its size. */
const slicesMin = 256;
const sliceMax = 4096;

export const sliceSize = ({ count }: UidRange): number =>
  Math.min(sliceMax, Math.max(1, Math.floor(count / slicesMin)));

export interface SliceRoom {
  readonly range: UidRange;
  /** What others have. */
  readonly taken: readonly UidRange[];
  /** What this process can be at all. */
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
