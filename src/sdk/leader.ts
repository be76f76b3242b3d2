import type { leaderEndpoints } from '../contract/leader.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, Requester } from './requester.ts';

/** The leader of several servers. Needs a management token. */
export type LeaderApi = ReturnType<typeof leaderOf>;

export function leaderOf(requester: Requester) {
  const { write } = callsOf<typeof leaderEndpoints>(requester);
  return {
    /** Lets another server lead. */
    stepDown: (options?: CallOptions) => write('PUT /v1/operator/leader/step-down', {}, options),
  };
}
