/** Rules that need nothing but the job, and the status of a job. */
import type { Job, JobStatus } from './job.ts';

/** Does not run itself: its schedule launches children. */
export const isPeriodic = (job: Pick<Job, 'Periodic'>): boolean => job.Periodic !== null;

/** Does not run itself: dispatches make children. A dispatched child keeps the block. */
export const isParameterized = (job: Pick<Job, 'ParameterizedJob' | 'Dispatched'>): boolean =>
  job.ParameterizedJob !== null && !job.Dispatched;

/** Whether registering the job makes an evaluation. Source: docs/behaviour/jobs.md#versions-and-indexes. */
export const isEvaluated = (
  job: Pick<Job, 'Periodic' | 'ParameterizedJob' | 'Dispatched'>,
): boolean => !isPeriodic(job) && !isParameterized(job);

/** Whether the job runs on every node that fits, so that every new node matters to it. */
export const runsEverywhere = (
  job: Pick<Job, 'Type' | 'Stop' | 'Periodic' | 'ParameterizedJob' | 'Dispatched'>,
): boolean => (job.Type === 'system' || job.Type === 'sysbatch') && !job.Stop && isEvaluated(job);

export const groupNamed = (job: Job, name: string): Job['TaskGroups'][number] | undefined =>
  job.TaskGroups.find((group) => group.Name === name);

export const totalCount = (job: Pick<Job, 'TaskGroups'>): number =>
  job.TaskGroups.reduce((total, group) => total + group.Count, 0);

/** The facts about other rows on which the status of a job depends. */
export interface JobSurroundings {
  readonly hasActiveDeployment: boolean;
  /** An allocation that is neither server- nor client-terminal. */
  readonly hasLiveAllocation: boolean;
  /** A non-terminal evaluation, blocked ones included. */
  readonly hasOpenEvaluation: boolean;
  readonly everEvaluated: boolean;
}

/** The status of a job. Source: docs/behaviour/jobs.md#the-status-of-a-job. */
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
