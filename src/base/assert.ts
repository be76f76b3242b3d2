/**
 * A broken assertion is a bug in this program, never a fault of its caller: operating errors are
 * values of the catalogue in `model/errors.ts`.
 */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Throws {@link AssertionError} unless `condition` holds. Stays on in production. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new AssertionError(sentence);
}

/** The value. Throws {@link AssertionError} if it is `undefined` or `null`. */
export function present<T>(value: T | undefined | null, sentence: string): T {
  assert(value !== undefined && value !== null, sentence);
  return value;
}
