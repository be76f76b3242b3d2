/**
 * Decides how far the current version of a job may roll out: finds its deployment, decides whether to create
 * one, and cancels the deployments of other versions.
 * Source: docs/behaviour/deployments.md#when-a-deployment-is-made.
 *
 *  1. A version never has more than one deployment, whatever its status.
 *  2. While a group is halted or its canaries wait, the current version only replaces its own allocations;
 *     allocations of earlier versions are replaced by their own version.
 */
import { every, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import {
  type Deployment,
  type DeploymentGroup,
  isTerminalDeployment,
} from '../../model/deployment/deployment.ts';
import {
  awaitsPromotion,
  deploymentDescriptions,
  runningDescription,
} from '../../model/deployment/descriptions.ts';
import { isGroupHealthy } from '../../model/deployment/progress.ts';
import type { Job } from '../../model/job/job.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { isRolling } from '../../model/task-group/policy-defaults.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { GroupContext } from '../decision.ts';

/** `free`: nothing holds the group back. */
export type Stage = 'free' | 'rolling' | 'canaries' | 'halted';

/** Whether the current version may replace earlier versions now. */
export const isMoving = (stage: Stage): boolean => stage === 'free' || stage === 'rolling';

/** The state of a group's rollout. */
export interface GroupRollout {
  readonly stage: Stage;
  /** The deployment that placements of the current version join; `''`: none. */
  readonly deploymentId: string;
  /** The number of canaries wanted, until they are promoted. */
  readonly canaries: number;
  /** The group's entry in a new deployment. */
  readonly entry: DeploymentGroup | undefined;
}

/** The changes that a group needs. */
export interface RolloutWork {
  readonly destructive: number;
  readonly inPlace: number;
  readonly placements: number;
  /** Whether an update is more than a lower count. */
  readonly isChange: boolean;
  /** Whether an allocation is or was of the current version. */
  readonly hasCurrent: boolean;
  /** The number of canaries for the destructive updates. */
  readonly canaries: number;
}

type Ending = Plan['deploymentUpdates'][number];

/** The deployment of the job's current version, in any status. */
export function currentDeployment(
  job: Job,
  deployments: Iterable<Deployment>,
): Deployment | undefined {
  let current: Deployment | undefined;
  for (const deployment of deployments) {
    if (!isOfVersion(deployment, job)) continue;
    if (current === undefined || deployment.CreateIndex > current.CreateIndex) current = deployment;
  }
  return current;
}

const isOfVersion = ({ JobVersion, JobCreateIndex }: Deployment, job: Job): boolean =>
  JobVersion === job.Version && JobCreateIndex === job.CreateIndex;

/** Cancels the deployments of a stopped job, and of other versions. */
export function cancellations(
  job: Job | undefined,
  deployments: Iterable<Deployment>,
): readonly Ending[] {
  const endings: Ending[] = [];
  for (const deployment of deployments) {
    if (isTerminalDeployment(deployment)) continue;
    const isOver = job === undefined || job.Stop;
    if (!isOver && isOfVersion(deployment, job)) continue;
    const { jobStopped, newerVersion } = deploymentDescriptions;
    endings.push({
      ID: deployment.ID,
      Status: 'cancelled',
      StatusDescription: isOver ? jobStopped : newerVersion,
    });
  }
  return endings;
}

const free: GroupRollout = { stage: 'free', deploymentId: '', canaries: 0, entry: undefined };

export const groupEntry = (
  { TaskGroups }: Deployment,
  { Name }: Pick<TaskGroup, 'Name'>,
): DeploymentGroup | undefined => (Object.hasOwn(TaskGroups, Name) ? TaskGroups[Name] : undefined);

/** Whether the group is rolled out in steps. */
export const hasSteps = (job: Job, group: TaskGroup): boolean =>
  isRolling(job.Type) && (group.Update?.MaxParallel ?? 0) > 0;

export function groupRollout(
  group: TaskGroup,
  work: RolloutWork,
  {
    job,
    deployment,
    newDeploymentId,
  }: Pick<GroupContext, 'job' | 'deployment' | 'newDeploymentId'>,
): GroupRollout {
  if (deployment === undefined) {
    return hasSteps(job, group) && callsForDeployment(work)
      ? firstStep(group, work, newDeploymentId())
      : free;
  }
  const entry = groupEntry(deployment, group);
  if (entry === undefined) return free;
  const { ID: deploymentId, Status } = deployment;
  if (Status === 'failed') return { ...free, stage: 'halted' };
  if (isTerminalDeployment(deployment)) return free;
  const isWaiting = awaitsPromotion(entry);
  const canaries = isWaiting ? entry.DesiredCanaries : 0;
  const going: Stage = isWaiting ? 'canaries' : 'rolling';
  const stage = Status === 'running' ? going : 'halted';
  return { stage, deploymentId, canaries, entry: undefined };
}

function callsForDeployment({ isChange, hasCurrent, ...work }: RolloutWork): boolean {
  return isChange || (!hasCurrent && work.placements > 0);
}

function firstStep({ Update }: TaskGroup, work: RolloutWork, deploymentId: string): GroupRollout {
  const { canaries, destructive, inPlace, placements } = work;
  const entry: DeploymentGroup = {
    AutoRevert: Update?.AutoRevert ?? false,
    AutoPromote: Update?.AutoPromote ?? false,
    Promoted: false,
    PlacedCanaries: [],
    DesiredCanaries: canaries,
    DesiredTotal: destructive + inPlace + placements,
    PlacedAllocs: 0,
    HealthyAllocs: 0,
    UnhealthyAllocs: 0,
    ProgressDeadline: Update?.ProgressDeadline ?? 0,
    RequireProgressBy: null,
  };
  return { stage: canaries > 0 ? 'canaries' : 'rolling', deploymentId, canaries, entry };
}

/**
 * The number of allocations to replace by the current version now: at most `MaxParallel` are not yet
 * healthy at a time, and none is replaced once an allocation of the deployment is unhealthy.
 */
export function* batchSize(
  { Update }: TaskGroup,
  { stage, deploymentId }: GroupRollout,
  members: Iterable<Allocation>,
  startedNow: number,
): Steps<number> {
  if (stage === 'free') return Number.POSITIVE_INFINITY;
  if (stage !== 'rolling') return 0;
  let size = (Update?.MaxParallel ?? 0) - startedNow;
  const isNoneLost = yield* every(members, (member) => {
    if (member.DeploymentID !== deploymentId) return true;
    const health = healthOf(member);
    if (health !== true) size--;
    return health !== false;
  });
  return isNoneLost ? Math.max(size, 0) : 0;
}

/** Whether all members of the deployment are healthy. */
export const isAllHealthy = (
  members: readonly Allocation[],
  { deploymentId }: Pick<GroupRollout, 'deploymentId'>,
): Steps<boolean> =>
  every(members, (one) => one.DeploymentID !== deploymentId || healthOf(one) === true);

/**
 * An ended allocation is unhealthy whatever its last report: rollouts are for jobs that run
 * forever.
 */
const healthOf = (allocation: Allocation): boolean | undefined =>
  isClientTerminal(allocation) ? false : (allocation.DeploymentStatus?.Healthy ?? undefined);

/** Whether the deployment's counters show the group complete. */
export const isRolledOut = (entry: DeploymentGroup): boolean =>
  isGroupHealthy(entry) && !awaitsPromotion(entry);

export const success = ({ ID }: Deployment): Ending => ({
  ID,
  Status: 'successful',
  StatusDescription: deploymentDescriptions.successful,
});

export interface NewDeployment {
  readonly id: string;
  readonly job: Job;
  readonly entries: ReadonlyMap<string, DeploymentGroup>;
  readonly priority: number;
  readonly now: number;
}

/** A new deployment of the job's current version. */
export function newDeployment({
  id,
  job,
  entries,
  priority,
  now,
}: NewDeployment): NonNullable<Plan['deployment']> {
  const TaskGroups = Object.fromEntries(entries);
  return {
    ID: id,
    Namespace: job.Namespace,
    JobID: job.ID,
    JobVersion: job.Version,
    JobModifyIndex: job.ModifyIndex,
    JobSpecModifyIndex: job.JobModifyIndex,
    JobCreateIndex: job.CreateIndex,
    IsMultiregion: false,
    TaskGroups,
    Status: 'running',
    StatusDescription: runningDescription({ TaskGroups }),
    EvalPriority: priority,
    CreateTime: now,
    ModifyTime: now,
  };
}
