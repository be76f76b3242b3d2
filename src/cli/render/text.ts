import { instantToMs } from '../../base/instant.ts';
import { oneLine } from '../../base/words.ts';

export { oneLine, plural } from '../../base/words.ts';

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

/** The two largest units of a span: `3d4h`, `5m10s`, `0s`. */
export function span(durationMs: number): string {
  let seconds = Math.max(0, Math.floor(durationMs / 1000));
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? '0s' : parts.join('');
}

/** The time since an instant (Unix nanoseconds, 0 for never). */
export function ago(instant: number | null | undefined, nowMs: number): string {
  if (!instant) return '-';
  return `${span(nowMs - instantToMs(instant))} ago`;
}

/** The time since an instant in RFC 3339; the zero time is never. */
export function agoText(text: string | null | undefined, nowMs: number): string {
  if (!text || text.startsWith('0001-')) return '-';
  return `${span(nowMs - Date.parse(text))} ago`;
}

export const orDash = (text: string | null | undefined): string => (text ? oneLine(text) : '-');

/** The index in a name that ends in `[7]`, for sorting `web[10]` after `web[9]`. */
const indexOf = (name: string): number => Number(/\[(\d+)\]$/.exec(name)?.[1] ?? 0);

/** Sorts names of allocations by their numbers. */
export const byName = (left: { Name: string }, right: { Name: string }): number => {
  const [group, other] = [left, right].map(({ Name }) => Name.replace(/\[\d+\]$/, ''));
  if (group !== other) return group! < other! ? -1 : 1;
  return indexOf(left.Name) - indexOf(right.Name);
};

/** A word, quoted for a shell if necessary. */
export const quoted = (id: string): string =>
  /^[\w./-]+$/.test(id) ? id : `'${oneLine(id).replaceAll("'", `'\\''`)}'`;
