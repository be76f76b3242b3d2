/**
 * Decides which records are garbage. Pure. Source: docs/behaviour/jobs.md#garbage-collection.
 *
 * A record must not have changed for as long as its age: users still ask about what has just ended.
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

/** How long records are kept after their last change. */
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

/** Batch jobs remember what has completed, so that it does not run again. */
const runsToItsEnd = (type: Job['Type']): boolean => type === 'batch' || type === 'sysbatch';

const isOver = ({ Stop, Status }: Job): boolean => Stop && Status === 'dead';

/** The records that an allocation refers to; the job only if it is the same registration. */
export interface Surroundings {
  readonly job: Job | undefined;
  readonly node: Node | undefined;
  /** The evaluation that placed the allocation. */
  readonly evaluation: Evaluation | undefined;
  /**
   * Whether the scheduler may still place allocations of the group: its last evaluation found too
   * little room, or another evaluation of the job is open.
   */
  readonly isAwaitingMore: () => boolean;
}

/** Whether nothing needs the allocation any more. */
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

/** Whether the allocation surely holds no resources: its node says so, or is gone. */
export function isEnded(allocation: Allocation, node: Node | undefined): boolean {
  if (isClientTerminal(allocation)) return true;
  const isNodeGone = node === undefined || node.Status === 'down';
  return isServerTerminal(allocation) && allocation.ClientStatus !== 'running' && isNodeGone;
}

/**
 * Whether a lost allocation is yet to be replaced. Its node may still run it, so the replacement
 * waits until it surely has ended, and then takes its name. It is not replaced if the group has
 * enough allocations or no longer waits for nodes.
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

/** Whether the allocation is yet to be replaced, or counts against the number of attempts. */
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

/**
 * Whether nothing needs the evaluation any more. `hasPlaced`: an allocation that it placed is still
 * there.
 */
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

/**
 * Whether the job itself allows its deletion. A parameterized or periodic job has to be stopped
 * first.
 */
export const isJobGarbage = (job: Job, { jobAgeMs }: GarbageAges, nowMs: number): boolean =>
  job.Status === 'dead' &&
  (job.Stop || isEvaluated(job)) &&
  isOld(job.SubmitTime ?? 0, jobAgeMs, nowMs);

/** Whether a record that belongs to the job stands in the way of its deletion. */
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
 * Whether nothing needs the deployment any more. `runs`: an allocation that it placed is still
 * wanted. `job`: the job with the deployment's job id.
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

/** Whether the failed deployment alone keeps its version from being rolled out again. */
const holdsBack = (deployment: Deployment, job: Job | undefined): boolean =>
  deployment.Status === 'failed' &&
  job?.Stop === false &&
  job.CreateIndex === deployment.JobCreateIndex &&
  job.Version === deployment.JobVersion;

/** Whether the node has gone for good. `holds`: whether allocations are meant to run on it. */
export const isNodeGarbage = (
  node: Pick<Node, 'Status' | 'StatusUpdatedAt'>,
  holds: () => boolean,
  { nodeAgeMs }: GarbageAges,
  nowMs: number,
): boolean => node.Status === 'down' && isOld(node.StatusUpdatedAt, nodeAgeMs, nowMs) && !holds();
