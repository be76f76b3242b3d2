/** The status of a job in one word, worst news first, and the counts of its allocations. */
import type { JobStatuses } from '../../../../src/model/job/job-statuses.ts';
import type { BarPart } from '../../parts/Bar.svelte';
import { lookOf, type statusLooks } from '../../parts/status.ts';

export type JobWord = keyof (typeof statusLooks)['job'];

type Allocation = JobStatuses['Allocs'][number];

const order = ['running', 'pending', 'unknown', 'failed', 'lost', 'complete'] as const;

/** Allocations that were replaced, and those of earlier versions that have ended, are no news. */
const isOld = (
  job: JobStatuses,
  { ClientStatus, JobVersion, FollowupEvalID }: Allocation,
): boolean =>
  ClientStatus !== 'running' &&
  ClientStatus !== 'pending' &&
  (JobVersion !== job.Version || FollowupEvalID !== '');

const goingOn: readonly string[] = ['running', 'pending', 'unknown'];

/**
 * Those that count at the moment. Of a service, as many that have ended are news as are missing: the others were
 * replaced.
 */
export function allocationsNow(job: JobStatuses): readonly Allocation[] {
  const now = (job.Allocs ?? []).filter((allocation) => !isOld(job, allocation));
  if (job.Type !== 'service' || job.Stop) return now;
  const going = now.filter(({ ClientStatus }) => goingOn.includes(ClientStatus));
  const missing = Math.max(0, job.GroupCountSum - going.length);
  const ended = now.filter(({ ClientStatus }) => !goingOn.includes(ClientStatus));
  return [...going, ...ended.slice(ended.length - Math.min(missing, ended.length))];
}

export function allocationParts(job: JobStatuses): readonly BarPart[] {
  const counts = Map.groupBy(allocationsNow(job), ({ ClientStatus }) => ClientStatus);
  return order.map((status) => {
    const { word, tone } = lookOf('allocation', status);
    return { word, tone, count: counts.get(status)?.length ?? 0 };
  });
}

export function childParts(job: JobStatuses): readonly BarPart[] {
  const counts = Map.groupBy(job.ChildStatuses ?? [], (status) => status);
  return (['running', 'pending', 'dead'] as const).map((status) => {
    const { word, tone } = lookOf('job', status);
    // A child that has done its work is called dead as well.
    return {
      word: status === 'dead' ? 'Ended' : word,
      tone,
      count: counts.get(status)?.length ?? 0,
    };
  });
}

export const isParent = (job: JobStatuses): boolean => job.ChildStatuses !== null;

/** The deployment that goes on has allocations that are not healthy. */
const isUnhealthy = ({ Allocs, LatestDeployment }: JobStatuses): boolean =>
  Allocs.some(
    ({ DeploymentStatus, JobVersion }) =>
      DeploymentStatus.Healthy === false && JobVersion === LatestDeployment?.JobVersion,
  );

/** Also those that wait to be placed again. */
const hasFailed = ({ Allocs, Version }: JobStatuses): boolean =>
  Allocs.some(
    ({ ClientStatus, JobVersion }) =>
      JobVersion === Version && (ClientStatus === 'failed' || ClientStatus === 'lost'),
  );

function parentWordOf({ Status, ChildStatuses }: JobStatuses): JobWord {
  if (Status === 'dead') return 'dead';
  return ChildStatuses?.some((status) => status !== 'dead') ? 'launching' : 'waiting';
}

/** A deployment is made together with its first allocations: without any, no node could take them. */
const isUnplaced = ({ Allocs, GroupCountSum, Version, LatestDeployment }: JobStatuses): boolean =>
  GroupCountSum > 0 && LatestDeployment?.JobVersion === Version && Allocs.length === 0;

export function wordOf(job: JobStatuses): JobWord {
  if (job.Stop) return 'stopped';
  if (isParent(job)) return parentWordOf(job);
  const now = allocationsNow(job);
  const count = (status: string): number =>
    now.filter(({ ClientStatus }) => ClientStatus === status).length;
  const running = count('running');
  const isDone = job.Type === 'batch' || job.Type === 'sysbatch';
  if (job.Status === 'dead') return count('failed') > 0 ? 'failing' : isDone ? 'complete' : 'dead';
  if (job.LatestDeployment?.IsActive === true) {
    return isUnplaced(job) ? 'unplaced' : isUnhealthy(job) ? 'unhealthy' : 'deploying';
  }
  if (isDone) return count('failed') > 0 ? 'degraded' : running > 0 ? 'running' : 'pending';
  if (running === 0) return hasFailed(job) ? 'failing' : 'pending';
  const isShort = job.Type === 'service' && running < job.GroupCountSum;
  return isShort || count('unknown') > 0 ? 'degraded' : 'running';
}

/** By how much each status wants to be looked at. */
const urgency: readonly JobWord[] = [
  'failing',
  'unhealthy',
  'degraded',
  'unplaced',
  'pending',
  'deploying',
  'running',
  'launching',
  'waiting',
  'complete',
  'stopped',
  'dead',
];

export const urgencyOf = (job: JobStatuses): number => urgency.indexOf(wordOf(job));
