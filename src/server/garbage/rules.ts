/**
 * What nothing needs any more. Pure. Source: docs/behaviour/jobs.md#garbage-collection.
 *
 * Beside its age there, a record has to have been left alone for as long: what has just ended is
 * still to be read by whoever asks why.
 */
import { instantToMs } from '../../base/instant.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import {
  allocationIndex,
  isClientTerminal,
  isServerTerminal,
} from '../../model/allocation/allocation-rules.ts';
import { type Deployment, isTerminalDeployment } from '../../model/deployment/deployment.ts';
import { type Evaluation, isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed, isEvaluated } from '../../model/job/job-rules.ts';
import type { Node } from '../../model/node/node.ts';
import { lostSinceMs } from '../../scheduler/reconcile/classify.ts';
import { isTriedAgain } from '../../scheduler/reschedule.ts';

/** How long each is kept after its last change. */
export interface GarbageAges {
  readonly jobAgeMs: number;
  readonly evaluationAgeMs: number;
  readonly batchEvaluationAgeMs: number;
  readonly deploymentAgeMs: number;
  readonly nodeAgeMs: number;
}

export const noAges: GarbageAges = {
  jobAgeMs: 0,
  evaluationAgeMs: 0,
  batchEvaluationAgeMs: 0,
  deploymentAgeMs: 0,
  nodeAgeMs: 0,
};

const isOld = (instant: number, ageMs: number, nowMs: number): boolean =>
  instantToMs(instant) <= nowMs - ageMs;

/** What ran to its end is remembered, so that it is not run again. */
const runsToItsEnd = (type: Job['Type']): boolean => type === 'batch' || type === 'sysbatch';

const isOver = ({ Stop, Status }: Job): boolean => Stop && Status === 'dead';

/** The job, as far as it is the registration that the record belongs to. */
export interface Surroundings {
  readonly job: Job | undefined;
  readonly node: Node | undefined;
  /** The evaluation that placed it. */
  readonly evaluation: Evaluation | undefined;
  /**
   * Whether the job's group is still to get allocations, as far as is known: its last evaluation found
   * too little room for it, or another evaluation of the job is under way.
   */
  readonly isAwaitingMore: () => boolean;
}

/** Whether an allocation is needed by nobody. */
export function isAllocationGarbage(
  allocation: Allocation,
  { job, node, evaluation, isAwaitingMore }: Surroundings,
  ages: GarbageAges,
  nowMs: number,
): boolean {
  const isBatch = runsToItsEnd(job?.Type ?? evaluation?.Type ?? 'service');
  const ageMs = isBatch ? ages.batchEvaluationAgeMs : ages.evaluationAgeMs;
  if (!isOld(allocation.ModifyTime, ageMs, nowMs)) return false;
  if (evaluation !== undefined && !isEvaluationOver(evaluation, ageMs, nowMs)) return false;
  if (!isEnded(allocation, node)) return false;
  if (job === undefined || isOver(job)) return true;
  if (isBatch) return allocation.JobVersion < job.Version;
  if (allocation.ClientStatus === 'lost') {
    return !isReplacedLater(allocation, job, isAwaitingMore, nowMs);
  }
  return !mayComeBack(allocation, job, nowMs);
}

/** Whether it is known to hold nothing: its node says so, or there is no node to ask. */
export function isEnded(allocation: Allocation, node: Node | undefined): boolean {
  if (isClientTerminal(allocation)) return true;
  const isNodeGone = node === undefined || node.Status === 'down';
  return isServerTerminal(allocation) && allocation.ClientStatus !== 'running' && isNodeGone;
}

/**
 * Whether the scheduler still asks for it although it is lost. Its node may still run it: its place is
 * kept until that is over for sure, and whatever takes the place then does so in its name. A group
 * that wants no more than it has, or no longer waits for nodes, asks for it no more.
 * Source: docs/behaviour/scheduling.md#reconciliation.
 */
function isReplacedLater(
  allocation: Allocation,
  job: Job,
  isAwaitingMore: () => boolean,
  nowMs: number,
): boolean {
  if (allocation.NextAllocation !== '' || allocation.FollowupEvalID === '' || job.Stop)
    return false;
  const group = groupNamed(job, allocation.TaskGroup);
  const grace = group?.Disconnect?.StopOnClientAfter ?? null;
  if (group === undefined || grace === null) return false;
  if (nowMs < lostSinceMs(allocation) + instantToMs(grace)) return true;
  return allocationIndex(allocation.Name) < group.Count && isAwaitingMore();
}

/** What is still to be made good, or counts against what may be tried again. */
function mayComeBack(allocation: Allocation, job: Job, nowMs: number): boolean {
  const { ClientStatus, NextAllocation } = allocation;
  if (ClientStatus !== 'failed' || isServerTerminal(allocation)) return false;
  const policy = groupNamed(job, allocation.TaskGroup)?.ReschedulePolicy ?? null;
  if (NextAllocation === '' && isTriedAgain(allocation, policy)) return true;
  if (policy === null || policy.Unlimited || policy.Attempts === 0) return false;
  const last = allocation.RescheduleTracker?.Events?.at(-1);
  return last !== undefined && last.RescheduleTime > (nowMs - instantToMs(policy.Interval)) * 1e6;
}

const isEvaluationOver = (evaluation: Evaluation, ageMs: number, nowMs: number): boolean =>
  isTerminalEvaluation(evaluation) && isOld(evaluation.ModifyTime, ageMs, nowMs);

/** Whether an evaluation is needed by nobody. `hasPlaced`: something that it placed is still there. */
export function isEvaluationGarbage(
  evaluation: Evaluation,
  { job, hasPlaced }: { readonly job: Job | undefined; readonly hasPlaced: boolean },
  ages: GarbageAges,
  nowMs: number,
): boolean {
  if (hasPlaced) return false;
  const isBatch = runsToItsEnd(evaluation.Type);
  const ageMs = isBatch ? ages.batchEvaluationAgeMs : ages.evaluationAgeMs;
  if (!isEvaluationOver(evaluation, ageMs, nowMs)) return false;
  return !isBatch || job === undefined || isOver(job);
}

/** Whether a job may go, as far as the job itself tells. A pattern goes only when it is stopped. */
export const isJobGarbage = (job: Job, { jobAgeMs }: GarbageAges, nowMs: number): boolean =>
  job.Status === 'dead' &&
  (job.Stop || isEvaluated(job)) &&
  isOld(job.SubmitTime ?? 0, jobAgeMs, nowMs);

/** Whether what belongs to a job that may go stands in its way. */
export const keepsJob = {
  version: ({ VersionTag }: Job): boolean => VersionTag !== null,
  evaluation: (evaluation: Evaluation, { jobAgeMs }: GarbageAges, nowMs: number): boolean =>
    !isEvaluationOver(evaluation, jobAgeMs, nowMs),
  allocation: (
    allocation: Allocation,
    node: Node | undefined,
    { jobAgeMs }: GarbageAges,
    nowMs: number,
  ): boolean => !isEnded(allocation, node) || !isOld(allocation.ModifyTime, jobAgeMs, nowMs),
};

/**
 * Whether a deployment is needed by nobody. `runs`: something that it placed is still wanted; `job`:
 * the one of its id.
 */
export const isDeploymentGarbage = (
  deployment: Deployment,
  { runs, job }: { readonly runs: boolean; readonly job: Job | undefined },
  { deploymentAgeMs }: GarbageAges,
  nowMs: number,
): boolean =>
  !runs &&
  !holdsBack(deployment, job) &&
  isTerminalDeployment(deployment) &&
  isOld(deployment.ModifyTime, deploymentAgeMs, nowMs);

/** That it failed is all that keeps the version from being rolled out once more. */
const holdsBack = (deployment: Deployment, job: Job | undefined): boolean =>
  deployment.Status === 'failed' &&
  job?.Stop === false &&
  job.CreateIndex === deployment.JobCreateIndex &&
  job.Version === deployment.JobVersion;

/** Whether a node is away for good. `holds`: whether something is meant to be on it. */
export const isNodeGarbage = (
  node: Pick<Node, 'Status' | 'StatusUpdatedAt'>,
  holds: () => boolean,
  { nodeAgeMs }: GarbageAges,
  nowMs: number,
): boolean => node.Status === 'down' && isOld(node.StatusUpdatedAt, nodeAgeMs, nowMs) && !holds();
