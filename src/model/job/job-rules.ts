/** Questions about a job that need nothing but the job, and how its status comes about. */
import type { Job, JobStatus } from './job.ts';

/** Not itself run, but a pattern that a schedule launches. */
export const isPeriodic = (job: Pick<Job, 'Periodic'>): boolean => job.Periodic !== null;

/** Not itself run, but a pattern that is dispatched. A dispatched child keeps the block. */
export const isParameterized = (job: Pick<Job, 'ParameterizedJob' | 'Dispatched'>): boolean =>
  job.ParameterizedJob !== null && !job.Dispatched;

/**
 * Whether registering it makes an evaluation. Source: docs/behaviour/jobs.md#versions-and-indexes.
 */
export const isEvaluated = (
  job: Pick<Job, 'Periodic' | 'ParameterizedJob' | 'Dispatched'>,
): boolean => !isPeriodic(job) && !isParameterized(job);

/** Whether it wants something on every node that fits, and so has to hear of every new one. */
export const runsEverywhere = (
  job: Pick<Job, 'Type' | 'Stop' | 'Periodic' | 'ParameterizedJob' | 'Dispatched'>,
): boolean => (job.Type === 'system' || job.Type === 'sysbatch') && !job.Stop && isEvaluated(job);

export const groupNamed = (job: Job, name: string): Job['TaskGroups'][number] | undefined =>
  job.TaskGroups.find((group) => group.Name === name);

export const totalCount = (job: Pick<Job, 'TaskGroups'>): number =>
  job.TaskGroups.reduce((total, group) => total + group.Count, 0);

/** The rows beside a job that its status depends on. */
export interface JobSurroundings {
  readonly hasActiveDeployment: boolean;
  /** An allocation that is neither server- nor client-terminal. */
  readonly hasLiveAllocation: boolean;
  /** A non-terminal evaluation, blocked ones included. */
  readonly hasOpenEvaluation: boolean;
  readonly everEvaluated: boolean;
}

/** Source: docs/behaviour/jobs.md#the-status-of-a-job, row by row. */
export function jobStatus(
  job: Pick<Job, 'Type' | 'Stop' | 'Periodic' | 'ParameterizedJob' | 'Dispatched'>,
  surroundings: JobSurroundings,
): JobStatus {
  if (job.Type === 'system' || !isEvaluated(job)) return job.Stop ? 'dead' : 'running';
  if (surroundings.hasActiveDeployment) return 'running';
  if (surroundings.hasLiveAllocation) return 'running';
  if (surroundings.hasOpenEvaluation) return 'pending';
  return job.Stop || surroundings.everEvaluated ? 'dead' : 'pending';
}
