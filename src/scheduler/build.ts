/** Makes the records of a plan. Source: docs/behaviour/evaluations.md#statuses. */
import { instantFromMs } from '../base/instant.ts';
import type { AllocatedResources } from '../model/allocation/allocated-resources.ts';
import {
  type Allocation,
  type AllocationDeploymentStatus,
  noTransition,
} from '../model/allocation/allocation.ts';
import type { PlacementMetrics } from '../model/allocation/placement-metrics.ts';
import { type Evaluation, unbegun } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import type { GroupDecision, PlacementRequest } from './decision.ts';
import { lifecyclesOf } from './fitting/resources.ts';
import { trackerOfReplacement } from './reschedule.ts';
import { descriptions, type Proposed } from './view.ts';

const noResources: AllocatedResources = {
  Tasks: {},
  TaskLifecycles: {},
  Shared: { DiskMB: 0, Networks: null, Ports: null },
};

/** The fields that tell a new allocation from the others of its group. */
export interface NewAllocation {
  readonly id: string;
  readonly group: TaskGroup;
  readonly request: PlacementRequest;
  readonly node: Node;
  readonly resources: AllocatedResources;
  readonly metrics: PlacementMetrics;
  readonly nowMs: number;
  /** Ids of the allocations evicted for it. */
  readonly preempted: readonly string[];
}

/** A canary whose health is not known yet. */
const canaryStatus: AllocationDeploymentStatus = {
  Healthy: null,
  Timestamp: null,
  Canary: true,
  ModifyIndex: 0,
};

/** An allocation with all fields that the new ones of a group share in an evaluation. */
export function sharedFields({
  evaluation,
  job,
  group,
  nowMs,
}: {
  readonly evaluation: Evaluation;
  readonly job: Job;
  readonly group: TaskGroup;
  readonly nowMs: number;
}): Proposed<Allocation> {
  const now = instantFromMs(nowMs);
  return {
    ID: '',
    Namespace: job.Namespace,
    EvalID: evaluation.ID,
    Name: '',
    NodeID: '',
    NodeName: '',
    JobID: job.ID,
    JobVersion: job.Version,
    JobCreateIndex: job.CreateIndex,
    TaskGroup: group.Name,
    AllocatedResources: noResources,
    Metrics: null,
    DesiredStatus: 'run',
    DesiredDescription: '',
    DesiredTransition: noTransition,
    ClientStatus: 'pending',
    ClientDescription: '',
    TaskStates: {},
    AllocStates: null,
    PreviousAllocation: '',
    NextAllocation: '',
    FollowupEvalID: '',
    RescheduleTracker: null,
    DeploymentID: '',
    DeploymentStatus: null,
    PreemptedAllocations: null,
    PreemptedByAllocation: '',
    NetworkStatus: null,
    CreateTime: now,
    ModifyTime: now,
  };
}

/** `shared`: the fields that the new allocations of the group share. */
export function newAllocation(
  shared: Proposed<Allocation>,
  { id, group, request, node, resources, metrics, nowMs, preempted }: NewAllocation,
): Proposed<Allocation> {
  return {
    ...shared,
    ID: id,
    Name: request.name,
    NodeID: node.ID,
    NodeName: node.Name,
    AllocatedResources: resources,
    Metrics: metrics,
    // Of its own: rows that share it would be stored in another way.
    TaskStates: {},
    PreviousAllocation: request.previous?.ID ?? '',
    RescheduleTracker: trackerFor(request, group, nowMs),
    DeploymentID: request.deploymentId,
    DeploymentStatus: request.isCanary ? canaryStatus : null,
    PreemptedAllocations: preempted.length === 0 ? null : preempted,
  };
}

/** A migrated allocation keeps its reschedule events; an allocation of a new version starts without any. */
function trackerFor(
  { kind, previous, delayNs }: PlacementRequest,
  group: TaskGroup,
  nowMs: number,
): Allocation['RescheduleTracker'] {
  if (previous === undefined || kind === 'update') return null;
  if (kind !== 'reschedule') return previous.RescheduleTracker;
  return trackerOfReplacement(previous, group.ReschedulePolicy, nowMs, delayNs);
}

/**
 * Moves allocations to the job's version on their node, with their ports and cores. The health of an
 * allocation that joins a deployment is judged again. Allocations that shared a resources object share one
 * afterwards.
 */
export function updaterInPlace(
  evaluation: Evaluation,
  { job, group, deploymentId }: Pick<GroupDecision, 'job' | 'group' | 'deploymentId'>,
  nowMs: number,
): (allocation: Allocation) => Allocation {
  const TaskLifecycles = lifecyclesOf(group);
  const updated = new Map<AllocatedResources, AllocatedResources>();
  const resourcesOf = (before: AllocatedResources): AllocatedResources => {
    const after = updated.get(before) ?? { ...before, TaskLifecycles };
    updated.set(before, after);
    return after;
  };
  return (allocation) => ({
    ...allocation,
    EvalID: evaluation.ID,
    JobVersion: job.Version,
    JobCreateIndex: job.CreateIndex,
    AllocatedResources: resourcesOf(allocation.AllocatedResources),
    DesiredDescription: descriptions.inPlace,
    ...(deploymentId !== '' && { DeploymentID: deploymentId, DeploymentStatus: null }),
    ModifyTime: instantFromMs(nowMs),
  });
}

export interface FollowUp {
  readonly id: string;
  readonly evaluation: Evaluation;
  readonly job: Job;
  readonly nowMs: number;
}

/** A pending evaluation that continues the work of the given one. */
export function followUpEvaluation(
  { id, evaluation, job, nowMs }: FollowUp,
  fields: Partial<Evaluation>,
): Proposed<Evaluation> {
  const now = instantFromMs(nowMs);
  return {
    ...unbegun,
    ID: id,
    Namespace: evaluation.Namespace,
    Priority: evaluation.Priority,
    Type: job.Type,
    TriggeredBy: 'queued-allocs',
    JobID: evaluation.JobID,
    JobModifyIndex: job.JobModifyIndex,
    PreviousEval: evaluation.ID,
    CreateTime: now,
    ModifyTime: now,
    ...fields,
  };
}
