import type { Allocation, ClientStatus, DesiredStatus } from '../allocation/allocation.ts';
import type { PlacementMetrics } from '../allocation/placement-metrics.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { DesiredUpdates, Evaluation } from '../evaluation/evaluation.ts';

/** A record that the scheduler made and no transaction has stamped yet. */
type Proposed<R> = Omit<R, 'CreateIndex' | 'ModifyIndex' | 'AllocModifyIndex'>;

/** An allocation to be stopped, or marked as lost or unknown. */
export interface PlannedStop {
  readonly allocationId: string;
  readonly nodeId: string;
  readonly desiredStatus: DesiredStatus;
  readonly desiredDescription: string;
  /** Set only if the server overrides the node's report. */
  readonly clientStatus?: Extract<ClientStatus, 'lost' | 'unknown'>;
  /** The evaluation of the plan that will look at it again; `''`: none. */
  readonly followupEvaluationId?: string;
  /** Set for a failed allocation that could not be placed elsewhere; noted in its reschedule tracker. */
  readonly lastReschedule?: 'no placement';
}

/** Whether the stop names an evaluation of the same plan. */
export const namesFollowUp = ({ followupEvaluationId }: PlannedStop): boolean =>
  followupEvaluationId !== undefined && followupEvaluationId !== '';

/** An allocation of another job that is evicted for a placement of the plan. */
export interface PlannedPreemption {
  readonly allocationId: string;
  /** The namespace of the evicted allocation, which may differ from the plan's. */
  readonly namespace: string;
  readonly nodeId: string;
  readonly byAllocationId: string;
}

/**
 * The scheduler's decision for an evaluation. It is right for the snapshot that it was made from; the plan
 * applier checks every affected node again. Source: docs/behaviour/scheduling.md#plans-become-state.
 */
export interface Plan {
  readonly evaluationId: string;
  readonly namespace: string;
  readonly jobId: string;
  readonly jobVersion: number;
  /** The index of the job that the plan was made for; 0 if there was none. */
  readonly jobModifyIndex: number;
  readonly priority: number;
  /** Whether all of the plan is carried out or nothing. */
  readonly allAtOnce: boolean;
  readonly snapshotIndex: number;
  readonly stops: readonly PlannedStop[];
  readonly placements: readonly Proposed<Allocation>[];
  readonly preemptions: readonly PlannedPreemption[];
  /** The whole new rows of allocations that are updated in place. */
  readonly inPlaceUpdates: readonly Allocation[];
  /** The deployment of the job's version when the plan was made; null if there was none. */
  readonly deploymentSeen: Pick<Deployment, 'ID' | 'Status'> | null;
  /** A new deployment. The plan's placements and updates in place name it. */
  readonly deployment: Proposed<Deployment> | null;
  readonly deploymentUpdates: readonly Pick<Deployment, 'ID' | 'Status' | 'StatusDescription'>[];
  /** New evaluations: follow-ups and the blocked evaluation. */
  readonly evaluations: readonly Proposed<Evaluation>[];
  readonly annotations: Readonly<Record<string, DesiredUpdates>>;
  /** The metrics of failed placements, by group. */
  readonly failures: Readonly<Record<string, PlacementMetrics>>;
  /** The number of allocations without a node yet, by group. */
  readonly queued: Readonly<Record<string, number>>;
}
