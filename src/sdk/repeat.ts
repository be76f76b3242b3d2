import { ApiError, ConnectionError, isLost, isNeverSent } from './errors.ts';
import { limits } from './limits.ts';
import type { Repeats } from './transport.ts';

/**
 * Sends a write until its outcome is known, under one `Idempotency-Key`, so that it has one effect.
 * Source: docs/contract/http.md#repeating-a-write.
 */
export async function untilKnown<T>(
  repeats: Repeats,
  signal: AbortSignal | undefined,
  send: (key: string) => Promise<T>,
): Promise<T> {
  const key = repeats.newKey();
  let unknown: unknown;
  for (let attempt = 0; ; attempt++) {
    try {
      return await send(key);
    } catch (error) {
      if (isUnknown(error)) unknown ??= error;
      const isOpen = isUnknown(error) || isNotRun(error);
      if (isOpen && attempt < limits.repeatsMax && signal?.aborted !== true) {
        await repeats.pause(limits.repeatAfterMs * 2 ** attempt, signal);
      } else {
        // A later attempt that was not run says nothing of the first one.
        throw isOpen || error instanceof ConnectionError ? (unknown ?? error) : error;
      }
    }
  }
}

/** Sends a read a second time if its connection was lost: the next server may have it. */
export async function onceMoreIfLost<T>(
  repeats: Repeats | undefined,
  signal: AbortSignal | undefined,
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (repeats === undefined || !isLost(error) || signal?.aborted) throw error;
    await repeats.pause(limits.repeatAfterMs, signal);
    return send();
  }
}

/**
 * Reads a stream, and after a lost connection the rest of it. `open` begins after what it gave before.
 * Source: docs/contract/http.md#several-addresses.
 */
export async function* untilOver<T>(
  repeats: Repeats | undefined,
  signal: AbortSignal | undefined,
  open: () => AsyncIterable<T>,
): AsyncGenerator<T, void> {
  let hasBegun = false;
  for (let attempt = 0; ; attempt++) {
    try {
      for await (const piece of open()) {
        hasBegun = true;
        attempt = 0;
        yield piece;
      }
      return;
    } catch (error) {
      const isEnd = !hasBegun || attempt >= limits.resumesMax || signal?.aborted === true;
      if (repeats === undefined || isEnd || !isPassing(error)) throw error;
      const pauseMs = Math.min(limits.repeatAfterMs * 2 ** attempt, limits.resumeAfterMaxMs);
      await repeats.pause(pauseMs, signal);
    }
  }
}

/** No server could be reached, or none had the stream at the moment. */
const isPassing = (error: unknown): boolean =>
  isLost(error) || isNeverSent(error) || (error instanceof ApiError && error.status === 503);

/** The request was not run, and another time or server may take it. */
const isNotRun = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'no-leader' || error.code === 'not-leader');

/** The request may have been run. */
const isUnknown = (error: unknown): boolean =>
  (error instanceof ApiError && error.code === 'outcome-unknown') || isLost(error);
