import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import type { SchedulerConfiguration } from '../../scheduler/view.ts';
import { inNamespace, jobs, nodePools, schedulerConfiguration } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/** The scheduler configuration that operators have set, or else that of the server's start. */
export function configurationIn(
  snapshot: Snapshot,
  initial: SchedulerConfiguration,
): SchedulerConfiguration {
  const stored = snapshot.table(schedulerConfiguration).get('configuration');
  if (stored === undefined) return initial;
  const { SchedulerAlgorithm, PreemptionConfig } = stored;
  return {
    algorithm: SchedulerAlgorithm || initial.algorithm,
    preemption: {
      system: PreemptionConfig.SystemSchedulerEnabled,
      sysbatch: PreemptionConfig.SysBatchSchedulerEnabled,
      batch: PreemptionConfig.BatchSchedulerEnabled,
      service: PreemptionConfig.ServiceSchedulerEnabled,
    },
  };
}

type OfJob = Pick<Evaluation, 'Namespace' | 'JobID'>;

/** The scheduler configuration for the job of an evaluation. */
export type ConfigurationFor = (evaluation: OfJob) => SchedulerConfiguration;

/** The scheduler configuration for a job, whose pool may set another algorithm. */
export function configurationFor(
  snapshot: Snapshot,
  { Namespace, JobID }: OfJob,
  initial: SchedulerConfiguration,
): SchedulerConfiguration {
  const pool = snapshot.table(jobs).get(...inNamespace(Namespace, JobID))?.NodePool;
  return pool === undefined
    ? configurationIn(snapshot, initial)
    : configurationInPool(snapshot, pool, initial);
}

/** The scheduler configuration for jobs of the pool. */
export function configurationInPool(
  snapshot: Snapshot,
  pool: string,
  initial: SchedulerConfiguration,
): SchedulerConfiguration {
  const configuration = configurationIn(snapshot, initial);
  const own = snapshot.table(nodePools).get(pool)?.SchedulerConfiguration?.SchedulerAlgorithm;
  return own ? { ...configuration, algorithm: own } : configuration;
}
