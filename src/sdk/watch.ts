import { isMissing } from './errors.ts';
import type { Answer, ReadOptions } from './requester.ts';

export interface WatchOptions extends Pick<ReadOptions, 'signal' | 'waitMs'> {
  /** On a 404, reject (the default), or yield `undefined` and wait for the record. */
  readonly missing?: 'throw' | 'wait';
}

type Read<T> = (options: ReadOptions) => Promise<Answer<T>>;

/**
 * The value now and after each change, read by blocking queries. An index that goes back starts
 * over (docs/contract/http.md#blocking-queries).
 */
export function watch<T>(
  read: Read<T>,
  options: WatchOptions & { readonly missing: 'wait' },
): AsyncGenerator<T | undefined, never>;
export function watch<T>(read: Read<T>, options?: WatchOptions): AsyncGenerator<T, never>;
export async function* watch<T>(
  read: Read<T>,
  { signal, waitMs, missing = 'throw' }: WatchOptions = {},
): AsyncGenerator<T | undefined, never> {
  let index = 0;
  for (;;) {
    let value: T | undefined;
    let seen: number;
    try {
      ({ value, index: seen } = await read({ index, waitMs, signal }));
    } catch (error) {
      if (missing === 'throw' || !isMissing(error)) throw error;
      seen = error.index;
    }
    // The index of an empty table may be 0, and a request with index 0 does not wait.
    const next = Math.max(seen, 1);
    if (next !== index) yield value;
    index = next < index ? 0 : next;
  }
}

/** Resolves with the first value that satisfies `until`. Rejects when `signal` aborts. */
export function waitFor<T>(
  read: Read<T>,
  until: (value: T | undefined) => boolean,
  options: WatchOptions & { readonly missing: 'wait' },
): Promise<T | undefined>;
export function waitFor<T>(
  read: Read<T>,
  until: (value: T) => boolean,
  options?: WatchOptions,
): Promise<T>;
export async function waitFor<T>(
  read: Read<T>,
  until: (value: T) => boolean,
  options: WatchOptions = {},
): Promise<T> {
  for await (const value of watch(read, options)) {
    if (until(value)) return value;
  }
  throw new Error('a watch never ends by itself');
}
