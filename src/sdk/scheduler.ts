import type {
  SchedulerConfigurationRequest,
  StoredSchedulerConfiguration,
} from '../model/scheduler-configuration/scheduler-configuration.ts';
import type { Answer, CallOptions, ReadOptions, Requester } from './requester.ts';

const path = '/v1/operator/scheduler/configuration';

/** How the cluster places. */
export interface SchedulerApi {
  configuration(
    options?: ReadOptions,
  ): Promise<Answer<{ readonly SchedulerConfig: StoredSchedulerConfiguration }>>;
  /** `cas`: only if it has that `ModifyIndex`; then `Updated` may be false. */
  configure(
    configuration: SchedulerConfigurationRequest,
    options?: CallOptions & { readonly cas?: number | undefined },
  ): Promise<Answer<{ readonly Updated: boolean; readonly Index: number }>>;
}

export const schedulerOf = (requester: Requester): SchedulerApi => ({
  configuration: (options) => requester.read(path, options),
  configure: (configuration, options = {}) =>
    requester.write('PUT', path, options, configuration, { cas: options.cas }),
});
