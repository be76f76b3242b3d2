import { ApiError, ConnectionError } from './errors.ts';
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

/** The request was not run, and another time or server may take it. */
const isNotRun = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'no-leader' || error.code === 'not-leader');

/** The request may have been run. */
const isUnknown = (error: unknown): boolean =>
  (error instanceof ApiError && error.code === 'outcome-unknown') ||
  (error instanceof ConnectionError && lost.has(error.code));

/** The connection ended after the request was sent. */
const lost = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
