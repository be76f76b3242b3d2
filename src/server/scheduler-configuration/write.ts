import { complete } from '../../model/complete.ts';
import {
  type SchedulerConfigurationRequest,
  SchedulerConfigurationSchema,
  type StoredSchedulerConfiguration,
} from '../../model/scheduler-configuration/scheduler-configuration.ts';
import type { SchedulerConfiguration } from '../../scheduler/view.ts';
import { schedulerConfiguration } from '../../state/tables.ts';
import type { Snapshot, Written } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { configurationIn } from './read.ts';

/**
 * Sets the scheduler configuration. With a guard (`cas`: the `ModifyIndex` that the caller has
 * seen, 0: nothing is set) it changes nothing and answers `false` if the configuration has changed
 * since.
 */
export async function setSchedulerConfiguration(
  { state }: ServerContext,
  request: SchedulerConfigurationRequest,
  guard: number | undefined,
): Promise<Written<boolean>> {
  const wanted = complete(SchedulerConfigurationSchema, request);
  return state.write((transaction) => {
    const table = transaction.table(schedulerConfiguration);
    const stored = table.get('configuration');
    if (guard !== undefined && guard !== (stored?.ModifyIndex ?? 0)) return false;
    const { SchedulerAlgorithm, PreemptionConfig } = wanted;
    table.put({ SchedulerAlgorithm, PreemptionConfig });
    return true;
  });
}

/** The configuration in force, in the form of the request. */
export function shownConfiguration(
  snapshot: Snapshot,
  initial: SchedulerConfiguration,
): StoredSchedulerConfiguration {
  const stored = snapshot.table(schedulerConfiguration).get('configuration');
  const { algorithm, preemption } = configurationIn(snapshot, initial);
  return {
    SchedulerAlgorithm: algorithm,
    PreemptionConfig: {
      SystemSchedulerEnabled: preemption.system,
      SysBatchSchedulerEnabled: preemption.sysbatch,
      BatchSchedulerEnabled: preemption.batch,
      ServiceSchedulerEnabled: preemption.service,
    },
    CreateIndex: stored?.CreateIndex ?? 0,
    ModifyIndex: stored?.ModifyIndex ?? 0,
  };
}
