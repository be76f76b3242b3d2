/**
 * How far the current version of a job may come: the deployment that brings it, whether a new one is
 * to be made, and which ones have to end.
 * Source: docs/behaviour/deployments.md#when-a-deployment-is-made.
 *
 * 1. A version has one deployment at most, however it ended.
 * 2. While a group halts, or its canaries wait, nothing comes of the current version but what
 *    replaces its own; what is left of an earlier version is replaced as it was.
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

/** `free`: nothing holds the group back. */
export type Stage = 'free' | 'rolling' | 'canaries' | 'halted';

/** Whether the current version comes on, rather than wait for somebody. */
export const isMoving = (stage: Stage): boolean => stage === 'free' || stage === 'rolling';

/** Where one group stands. */
export interface GroupRollout {
  readonly stage: Stage;
  /** What is placed of the current version becomes part of it; `''`: of none. */
  readonly deploymentId: string;
  /** How many canaries there are to be, while they are waited for. */
  readonly canaries: number;
  /** What a new deployment says of the group. */
  readonly entry: DeploymentGroup | undefined;
}

/** What the group has before it. */
export interface RolloutWork {
  readonly destructive: number;
  readonly inPlace: number;
  readonly placements: number;
  /** Some update is more than that the group may have fewer allocations now. */
  readonly isChange: boolean;
  /** Some allocation is, or was, of the current version. */
  readonly hasCurrent: boolean;
  /** How many canaries the group's strategy calls for, for what is destructive. */
  readonly canaries: number;
}

type Ending = Plan['deploymentUpdates'][number];

/** The deployment of the job's current version, whatever became of it. */
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

/** Those that nobody needs any more: of a stopped job, and of other versions. */
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

/** Whether groups of the job are rolled out in steps. */
export const hasSteps = (job: Job, group: TaskGroup): boolean =>
  isRolling(job.Type) && (group.Update?.MaxParallel ?? 0) > 0;

/** `newId` names the deployment that is made when the group calls for one. */
export function groupRollout(
  job: Job,
  group: TaskGroup,
  deployment: Deployment | undefined,
  work: RolloutWork,
  newId: () => string,
): GroupRollout {
  if (deployment === undefined) {
    return hasSteps(job, group) && callsForDeployment(work)
      ? firstStep(group, work, newId())
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
 * How many may be replaced by the current version now: no more than `MaxParallel` are on their way
 * to health at a time, and none more once one of them got lost on it.
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

/** Whether all of them that are of the deployment are healthy. */
export const isAllHealthy = (
  members: readonly Allocation[],
  { deploymentId }: Pick<GroupRollout, 'deploymentId'>,
): Steps<boolean> =>
  every(members, (one) => one.DeploymentID !== deploymentId || healthOf(one) === true);

/** What ended is not healthy, whatever was last said of that: only jobs for ever are rolled out. */
const healthOf = (allocation: Allocation): boolean | undefined =>
  isClientTerminal(allocation) ? false : (allocation.DeploymentStatus?.Healthy ?? undefined);

/** Whether the group has all that its deployment is for, as far as is counted there. */
export const isRolledOut = (entry: DeploymentGroup): boolean =>
  isGroupHealthy(entry) && !awaitsPromotion(entry);

export const success = ({ ID }: Deployment): Ending => ({
  ID,
  Status: 'successful',
  StatusDescription: deploymentDescriptions.successful,
});

/** A deployment of the job's current version with these groups. */
export function newDeployment(
  id: string,
  job: Job,
  entries: ReadonlyMap<string, DeploymentGroup>,
  priority: number,
  now: number,
): NonNullable<Plan['deployment']> {
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
