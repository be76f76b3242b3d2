import type { Job } from '../../model/job/job.ts';
import { isPeriodic, runsEverywhere } from '../../model/job/job-rules.ts';
import type { JobPolicy } from '../../model/job-policy/job-policy.ts';
import type { JobSubmission } from '../../model/job-submission/job-submission.ts';
import type { JobSummary } from '../../model/job-summary/job-summary.ts';
import { type KeptPlan, ofRegistration } from '../../model/kept-plan/kept-plan.ts';
import type { PeriodicLaunch } from '../../model/periodic-launch/periodic-launch.ts';
import type { ScalingHistory } from '../../model/scaling-event/scaling-event.ts';
import { placeInJob, type RegisteredPolicy } from '../../model/scaling-policy/registered-policy.ts';
import { FormUnfinished } from '../errors.ts';
import { inNamespace, numberPart, table } from './definition.ts';

export const jobs = table<
  Job,
  'everywhere' | 'periodic' | 'pool' | 'child' | 'dispatch' | 'modified' | 'registration'
>({
  name: 'jobs',
  version: 3,
  // A job and its row in `jobVersions` have the same groups, and a new status keeps them.
  shared: ['TaskGroups'],
  alike: true,
  // Version 2 wrote the shared field in another way, version 3 writes differences. The row is the same.
  upcast: (row) => row as Job,
  downcast: (row) => row,
  scopeParts: 2,
  key: (job) => inNamespace(job.Namespace, job.ID),
  indexes: {
    /** Jobs that want an allocation on every node. A new node is evaluated for them. */
    everywhere: { key: (job) => (runsEverywhere(job) ? ['everywhere'] : undefined) },
    periodic: { key: (job) => (isPeriodic(job) ? ['periodic'] : undefined) },
    pool: { key: (job) => [job.NodePool] },
    /** By parent, the active children before the dead children. */
    child: {
      key: ({ Namespace, ParentID, Status }) =>
        ParentID === '' ? undefined : inNamespace(Namespace, ParentID, childPart(Status)),
    },
    /** By parent and by the token that prevents a second dispatch. */
    dispatch: {
      key: ({ Namespace, ParentID, DispatchIdempotencyToken: token }) =>
        ParentID === '' || token === '' ? undefined : inNamespace(Namespace, ParentID, token),
    },
    /** By last change, the oldest first. */
    modified: {
      scopeParts: 2,
      key: ({ Namespace, ModifyIndex }) => inNamespace(Namespace, numberPart(ModifyIndex)),
    },
    /** Each job alone: its first registration and its purge are changes, its updates are not. */
    registration: {
      key: ({ Namespace, ID }) => inNamespace(Namespace, ID),
      touch: ({ CreateIndex }) => CreateIndex,
    },
  },
});

/** The last part of a child's key in the index `child`. */
export const childPart = (status: Job['Status']): 'active' | 'dead' =>
  status === 'dead' ? 'dead' : 'active';

/** The kept versions of each job, with the current version. Each has the `CreateIndex` of the job. */
export const jobVersions = table<Job>({
  name: 'job-versions',
  version: 3,
  shared: ['TaskGroups'],
  alike: true,
  upcast: (row) => row as Job,
  downcast: (row) => row,
  keepsCreateIndex: true,
  key: (job) => inNamespace(job.Namespace, job.ID, numberPart(job.Version)),
  indexes: {},
});

export const jobSummaries = table<JobSummary>({
  name: 'job-summaries',
  version: 1,
  scopeParts: 2,
  key: (summary) => inNamespace(summary.Namespace, summary.JobID),
  indexes: {},
});

export const jobSubmissions = table<JobSubmission>({
  name: 'job-submissions',
  version: 1,
  key: (submission) =>
    inNamespace(submission.Namespace, submission.JobID, numberPart(submission.Version)),
  indexes: {},
});

/** The scaling events of each group of a job. */
export const scalingEvents = table<ScalingHistory>({
  name: 'scaling-events',
  version: 1,
  key: ({ Namespace, JobID, TaskGroup }) => inNamespace(Namespace, JobID, TaskGroup),
  indexes: {},
});

/** The scaling policies in jobs. They are derived from the jobs, but have their own `ModifyIndex`. */
export const scalingPolicies = table<RegisteredPolicy, 'id'>({
  name: 'scaling-policies',
  version: 1,
  scopeParts: 2,
  key: (policy) => inNamespace(policy.Namespace, policy.Target.Job!, ...placeInJob(policy)),
  indexes: { id: { key: (policy) => [policy.ID] } },
});

/** Rules for jobs. Their names are unique in the cluster. */
export const jobPolicies = table<JobPolicy, 'namespace'>({
  name: 'job-policies',
  version: 1,
  key: (policy) => [policy.Name],
  indexes: {
    /** By the namespace to which they apply. */
    namespace: { key: (policy) => [policy.Namespace] },
  },
});

/** Plans that can be carried out, or were. */
export const keptPlans = table<KeptPlan, 'expiry' | 'id'>({
  name: 'kept-plans',
  version: 4,
  isOmittedUnused: true,
  key: ({ Namespace, JobID, ID }) => inNamespace(Namespace, JobID, ID),
  indexes: {
    expiry: { key: ({ ExpireMs }) => [numberPart(ExpireMs)] },
    id: { key: ({ ID }) => [ID] },
  },
  // Servers before version 4 do not note that a plan is outdated. Before version 3 every plan was about the registration
  // of a job. Version 1 had its outline as it is, and a packed outline cannot be unpacked here.
  upcast: (row, version) => ({
    ...ofRegistration,
    ...(version < 2 && { Packed: false }),
    ...(version < 4 && { OutdatedIndex: 0 }),
    ...(row as Omit<KeptPlan, keyof typeof ofRegistration>),
  }),
  downcast({ OutdatedIndex: _, ...known }, version) {
    if (version === 3) return known;
    const { Kind, Partition: __, Subject, Name, ...row } = known;
    if (Kind !== 'job') throw new FormUnfinished('kept-plans');
    if (version >= 2) return row;
    const { Packed, ...oldest } = row;
    if (Packed) throw new FormUnfinished('kept-plans');
    return oldest;
  },
});

export const periodicLaunches = table<PeriodicLaunch>({
  name: 'periodic-launches',
  version: 1,
  key: ({ Namespace, JobID }) => inNamespace(Namespace, JobID),
  indexes: {},
});
