/**
 * Instants are Unix nanoseconds in the scheduler's records (`SubmitTime`, `CreateTime`), in whole
 * milliseconds. A double holds such a number to 256 ns, so the millisecond is read back exactly, and the
 * shortest decimal form is exact.
 * Source: docs/contract/http.md#numbers-durations-and-instants.
 */
export const instantFromMs = (unixMs: number): number => unixMs * 1e6;

export const instantToMs = (unixNanoseconds: number): number => Math.round(unixNanoseconds / 1e6);

/** The absence of an instant in RFC 3339. */
export const noInstant = '0001-01-01T00:00:00Z';

/** Unix nanoseconds as RFC 3339; 0 is no instant. */
export const instantText = (unixNanoseconds: number): string =>
  unixNanoseconds === 0 ? noInstant : formatInstant(instantToMs(unixNanoseconds));

/** The Unix nanoseconds of a text in RFC 3339; `undefined` for another text. */
export function instantFromText(text: string): number | undefined {
  if (text === noInstant) return 0;
  const isForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const unixMs = isForm ? Date.parse(text) : Number.NaN;
  return Number.isNaN(unixMs) ? undefined : instantFromMs(unixMs);
}

/** RFC 3339 in UTC. Whole seconds have no fraction. */
export function formatInstant(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('.000Z', 'Z');
}
