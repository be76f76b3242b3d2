import type { upgradeEndpoints } from '../contract/upgrade.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, Requester } from './requester.ts';

/** The form in which several servers write the state, while they are upgraded one by one. */
export type UpgradeApi = ReturnType<typeof upgradeOf>;

export function upgradeOf(requester: Requester) {
  const { read, write } = callsOf<typeof upgradeEndpoints>(requester);
  return {
    read: (options?: CallOptions) => read('GET /v1/operator/upgrade', {}, options),
    /** Forbids a newer form, or allows it again. */
    hold: (Hold: boolean, options?: CallOptions) =>
      write('PUT /v1/operator/upgrade/hold', {}, options, { body: { Hold } }),
    finalize: (options?: CallOptions) => write('PUT /v1/operator/upgrade/finalize', {}, options),
  };
}
