/** A range of user ids, in the form of `/etc/subuid`: the first id, and the number of ids. */
export interface UidRange {
  readonly start: number;
  readonly count: number;
}

/** Smaller ids are users of the system; the last id of 32 bits means none. */
const [uidMin, uidMax] = [1000, 2 ** 32 - 2];
/** The owner of files that belong to no user of the machine: `nobody` on most systems. */
const overflowUid = 65_534;

export const showUidRange = ({ start, count }: UidRange): string => `${start}:${count}`;

export const endOf = ({ start, count }: UidRange): number => start + count;

export const overlaps = (one: UidRange, other: UidRange): boolean =>
  one.start < endOf(other) && other.start < endOf(one);

export const contains = ({ start, count }: UidRange, uid: number): boolean =>
  uid >= start && uid < start + count;

/** The range; `undefined` if the text is not a range from which allocations may have users. */
export function parseUidRange(text: string): UidRange | undefined {
  const [, first, many] = /^(\d{1,10}):(\d{1,10})$/.exec(text) ?? [];
  const range = { start: Number(first), count: Number(many) };
  const isWithin = range.start >= uidMin && range.count >= 1 && endOf(range) - 1 <= uidMax;
  return isWithin && !contains(range, overflowUid) ? range : undefined;
}
