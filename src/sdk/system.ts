import type { AnswerOf } from '../contract/endpoint.ts';
import type { systemEndpoints } from '../contract/system.ts';
import { callsOf } from './calls.ts';
import { limits } from './limits.ts';
import type { CallOptions, Requester } from './requester.ts';

/** The number of deleted records of each noun. */
export type Collected = AnswerOf<(typeof systemEndpoints)['collectGarbage']>;

/** Both calls answer when all work is done, which can take minutes. */
const patient = (options: CallOptions = {}): CallOptions => ({
  timeoutMs: limits.longWorkTimeoutMs,
  ...options,
});

/** Maintenance. Needs a management token. */
export type SystemApi = ReturnType<typeof systemOf>;

export function systemOf(requester: Requester) {
  const { write } = callsOf<typeof systemEndpoints>(requester);
  return {
    /** Deletes all unneeded records, regardless of their age. */
    collectGarbage: (options?: CallOptions) => write('PUT /v1/system/gc', {}, patient(options)),
    /** Counts the summaries of all jobs again. */
    reconcileSummaries: (options?: CallOptions) =>
      write('PUT /v1/system/reconcile/summaries', {}, patient(options)),
  };
}
