import type { AnswerOf } from '../contract/endpoint.ts';
import type { systemEndpoints } from '../contract/system.ts';
import { callsOf } from './calls.ts';
import { limits } from './limits.ts';
import type { CallOptions, Requester } from './requester.ts';

/** How many of each were deleted. */
export type Collected = AnswerOf<(typeof systemEndpoints)['collectGarbage']>;

/** Both answer when all is done, which takes minutes where very much is kept. */
const patient = (options: CallOptions = {}): CallOptions => ({
  timeoutMs: limits.longWorkTimeoutMs,
  ...options,
});

/** Looking after what is stored. Needs a management token. */
export type SystemApi = ReturnType<typeof systemOf>;

export function systemOf(requester: Requester) {
  const { write } = callsOf<typeof systemEndpoints>(requester);
  return {
    /** Deletes what nobody needs any more, however young. */
    collectGarbage: (options?: CallOptions) => write('PUT /v1/system/gc', {}, patient(options)),
    /** Counts every job's summary anew. */
    reconcileSummaries: (options?: CallOptions) =>
      write('PUT /v1/system/reconcile/summaries', {}, patient(options)),
  };
}
