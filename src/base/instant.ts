/**
 * Instants travel as Unix nanoseconds in the scheduler's records (`SubmitTime`, `CreateTime`) and
 * are only ever as fine as a millisecond. A double holds such a number to 256 ns, so the
 * millisecond comes back exactly, and its shortest decimal form is the exact one.
 * Source: DESIGN §5 "Numbers".
 */
export const instantFromMs = (unixMs: number): number => unixMs * 1e6;

export const instantToMs = (unixNanoseconds: number): number => Math.round(unixNanoseconds / 1e6);

/** RFC 3339 in UTC, seconds without a fraction when there is none. */
export function formatInstant(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('.000Z', 'Z');
}
