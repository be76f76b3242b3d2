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
 * Sets how the cluster places. With a guard (`cas`, the `ModifyIndex` that the caller has seen; 0:
 * nobody has set anything) it answers `false`, and changes nothing, when somebody was faster.
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

/** What is in force, in the form in which it is set. */
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
