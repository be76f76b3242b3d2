import type { schedulerEndpoints } from '../contract/scheduler-configuration.ts';
import type { SchedulerConfigurationRequest } from '../model/scheduler-configuration/scheduler-configuration.ts';
import { callsOf } from './calls.ts';
import type { CallOptions, ReadOptions, Requester } from './requester.ts';

/** The configuration of the scheduler. */
export type SchedulerApi = ReturnType<typeof schedulerOf>;

export function schedulerOf(requester: Requester) {
  const { read, write } = callsOf<typeof schedulerEndpoints>(requester);
  return {
    configuration: (options?: ReadOptions) =>
      read('GET /v1/operator/scheduler/configuration', {}, options),
    /** `cas`: only if the configuration has this `ModifyIndex`; otherwise `Updated` is false. */
    configure: (
      configuration: SchedulerConfigurationRequest,
      options: CallOptions & { readonly cas?: number | undefined } = {},
    ) =>
      write('PUT /v1/operator/scheduler/configuration', {}, options, {
        body: configuration,
        query: {
          cas: options.cas,
        },
      }),
  };
}
