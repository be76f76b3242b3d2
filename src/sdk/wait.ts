/** Waits for a state, by blocking queries. */
import { WaitError } from './errors.ts';
import { limits } from './limits.ts';
import { pause } from './pause-real.ts';
import type { Answer, CallOptions, ReadOptions, Requester } from './requester.ts';
import { watch } from './watch.ts';

export interface WaitOptions extends Pick<CallOptions, 'namespace' | 'partition' | 'signal'> {
  /** The longest wait, five minutes by default. 0: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** A record as a wait sees it: it is as wanted, it never will be, or neither. */
export type Verdict<R> =
  | { readonly kind: 'reached'; readonly value: R }
  | { readonly kind: 'unreachable'; readonly sentence: string }
  | { readonly kind: 'not-yet' };

export interface Wait<T, R> {
  readonly read: (options: ReadOptions) => Promise<Answer<T>>;
  readonly judge: (value: T) => Verdict<R>;
  /** `The deployment "x" is not successful`, for the message of a wait that took too long. */
  readonly unmet: (last: T | undefined) => string;
  /** Wait for a record that does not exist yet, instead of rejecting with the server's refusal. */
  readonly missing?: 'wait';
}

/**
 * Resolves when the record is as wanted. Rejects with `WaitError` if that cannot happen or takes too long, with
 * `ApiError` if the server refuses, and with the reason of the signal.
 */
export async function waitUntil<T, R>(
  requester: Pick<Requester, 'repeats'>,
  { read, judge, unmet, missing }: Wait<T, R>,
  options: WaitOptions = {},
): Promise<R> {
  let last: T | undefined;
  return withinTime(requester, options, {
    run: async (call) => {
      const values = watch((of) => read({ ...of, ...placeOf(options) }), {
        ...call,
        missing: missing ?? 'throw',
      } as { readonly missing: 'wait' });
      for await (const value of values) {
        if (value === undefined) continue;
        last = value;
        const verdict = judge(value);
        if (verdict.kind === 'reached') return verdict.value;
        if (verdict.kind === 'unreachable') throw unreachable(verdict.sentence, value);
      }
      throw new Error('a watch never ends by itself');
    },
    late: async (time) => new WaitError('timeout', `${unmet(last)} after ${time}.`, { last }),
  });
}

export const unreachable = (sentence: string, last: unknown): WaitError =>
  new WaitError('unreachable', sentence, { last });

export const placeOf = ({ namespace, partition }: WaitOptions) => ({ namespace, partition });

export interface TimedWork<R> {
  readonly run: (call: { readonly signal: AbortSignal }) => Promise<R>;
  /** The error of work that took too long. */
  readonly late: (time: string) => Promise<WaitError>;
}

/** The time is that of the client's transport, which is virtual in a virtual cluster. */
export async function withinTime<R>(
  requester: Pick<Requester, 'repeats'>,
  { signal, timeoutMs = limits.waitUntilMs }: WaitOptions,
  { run, late }: TimedWork<R>,
): Promise<R> {
  const over = new AbortController();
  const tooLate = new AbortController();
  if (timeoutMs > 0) {
    const wait = requester.repeats?.pause ?? pause;
    void wait(timeoutMs, over.signal).then(() => tooLate.abort());
  }
  const either = [tooLate.signal, over.signal, ...(signal === undefined ? [] : [signal])];
  try {
    return await run({ signal: AbortSignal.any(either) });
  } catch (error) {
    if (!tooLate.signal.aborted || signal?.aborted) throw error;
    throw await late(`${timeoutMs / 1000} s`);
  } finally {
    over.abort();
  }
}

/** The verdict by the status of a record, which stays as it is after the last statuses. */
export function byStatus<T extends { readonly Status: string }>(
  noun: string,
  wanted: T['Status'],
  last: readonly T['Status'][],
): (record: T & { readonly ID: string; readonly StatusDescription: string }) => Verdict<T> {
  return (record) => {
    const { ID, Status, StatusDescription: why } = record;
    if (Status === wanted) return { kind: 'reached', value: record };
    if (!last.includes(Status)) return { kind: 'not-yet' };
    return { kind: 'unreachable', sentence: `The ${noun} "${ID}" is ${Status}: ${why}.` };
  };
}
