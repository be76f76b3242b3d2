import type { AllocationState, JobState } from './contents.ts';

/** The jobs and allocations of one side. */
interface Side {
  readonly jobs: readonly JobState[];
  readonly allocations: readonly AllocationState[];
}

type JobName = Pick<JobState, 'Namespace' | 'ID'>;
type AllocationName = Omit<AllocationState, 'IsRunning'>;

/** The effect that a restore would have on what runs, besides the records that it replaces. */
export interface RestoreEffect {
  /** Jobs that run again. */
  readonly JobsBack: readonly JobName[];
  /** Jobs that no longer run: the snapshot does not have them, or has them stopped. */
  readonly JobsStopped: readonly JobName[];
  /** Jobs that run as they were registered before, or after. */
  readonly JobsChanged: readonly JobName[];
  /** Allocations that are over or gone, and that their nodes run again. */
  readonly AllocationsBack: readonly AllocationName[];
  /** Allocations that run, and that have ended in the snapshot. */
  readonly AllocationsStopped: readonly AllocationName[];
  /** Allocations that run, and that the snapshot does not know. */
  readonly AllocationsUnknown: readonly AllocationName[];
}

/** Source: docs/operations/backup.md#before-a-restore. */
export function restoreEffect(snapshot: Side, server: Side): RestoreEffect {
  const [before, after] = [byName(server.jobs), byName(snapshot.jobs)];
  const known = byId(server.allocations);
  const restored = byId(snapshot.allocations);
  const live = server.allocations.filter(({ IsRunning }) => IsRunning);
  return {
    JobsBack: snapshot.jobs
      .filter((job) => job.IsWanted && before.get(nameOf(job))?.IsWanted !== true)
      .map(jobName),
    JobsStopped: server.jobs
      .filter((job) => job.IsWanted && after.get(nameOf(job))?.IsWanted !== true)
      .map(jobName),
    JobsChanged: snapshot.jobs
      .filter((job) => {
        const now = before.get(nameOf(job));
        const isWanted = job.IsWanted && now?.IsWanted === true;
        return isWanted && now.JobModifyIndex !== job.JobModifyIndex;
      })
      .map(jobName),
    AllocationsBack: snapshot.allocations
      .filter((one) => one.IsRunning && known.get(one.ID)?.IsRunning !== true)
      .map(allocationName),
    AllocationsStopped: live
      .filter(({ ID }) => restored.get(ID)?.IsRunning === false)
      .map(allocationName),
    AllocationsUnknown: live.filter(({ ID }) => !restored.has(ID)).map(allocationName),
  };
}

const nameOf = ({ Namespace, ID }: JobName): string => `${Namespace}\0${ID}`;
const byName = (jobs: readonly JobState[]) => new Map(jobs.map((job) => [nameOf(job), job]));
const byId = (all: readonly AllocationState[]) => new Map(all.map((one) => [one.ID, one]));

const jobName = ({ Namespace, ID }: JobName): JobName => ({ Namespace, ID });
const allocationName = ({ ID, Namespace, JobID, NodeID }: AllocationName): AllocationName => ({
  ID,
  Namespace,
  JobID,
  NodeID,
});
