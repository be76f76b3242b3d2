import { limits } from './limits.ts';
import type { Answer, CallOptions, Requester } from './requester.ts';

/** How many of each were deleted. */
export interface Collected {
  readonly Jobs: number;
  readonly Evaluations: number;
  readonly Allocations: number;
  readonly Deployments: number;
  readonly Nodes: number;
}

/** Looking after what is stored. Needs a management token. */
export interface SystemApi {
  /** Deletes what nobody needs any more, however young. */
  collectGarbage(options?: CallOptions): Promise<Answer<Collected>>;
  /** Counts every job's summary anew. */
  reconcileSummaries(options?: CallOptions): Promise<Answer<{ readonly Changed: number }>>;
}

/** Both answer when all is done, which takes minutes where very much is kept. */
const patient = (options: CallOptions = {}): CallOptions => ({
  timeoutMs: limits.longWorkTimeoutMs,
  ...options,
});

export const systemOf = (requester: Requester): SystemApi => ({
  collectGarbage: (options) => requester.write('PUT', '/v1/system/gc', patient(options)),
  reconcileSummaries: (options) =>
    requester.write('PUT', '/v1/system/reconcile/summaries', patient(options)),
});
