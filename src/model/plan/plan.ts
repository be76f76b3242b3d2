import type { Allocation, ClientStatus, DesiredStatus } from '../allocation/allocation.ts';
import type { PlacementMetrics } from '../allocation/placement-metrics.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { DesiredUpdates, Evaluation } from '../evaluation/evaluation.ts';

/** A record the scheduler made and no transaction has stamped yet. */
type Proposed<R> = Omit<R, 'CreateIndex' | 'ModifyIndex' | 'AllocModifyIndex'>;

/** An allocation to be ended, or marked as lost or unknown. */
export interface PlannedStop {
  readonly allocationId: string;
  readonly nodeId: string;
  readonly desiredStatus: DesiredStatus;
  readonly desiredDescription: string;
  /** Set only where the server overrides what the node says. */
  readonly clientStatus?: Extract<ClientStatus, 'lost' | 'unknown'>;
  /** The one of the plan's that comes back to it; `''`: it waits for none any more. */
  readonly followupEvaluationId?: string;
  /** For the tracker of one that failed and could not be placed anywhere else. */
  readonly lastReschedule?: 'no placement';
}

/** Whether it names an evaluation that comes with the plan. */
export const namesFollowUp = ({ followupEvaluationId }: PlannedStop): boolean =>
  followupEvaluationId !== undefined && followupEvaluationId !== '';

/** An allocation of another job that makes way for one of the plan's placements. */
export interface PlannedPreemption {
  readonly allocationId: string;
  /** Its own, which may be another than the plan's. */
  readonly namespace: string;
  readonly nodeId: string;
  readonly byAllocationId: string;
}

/**
 * What the scheduler wants done for one evaluation. It holds against the snapshot it was made from;
 * the plan applier checks every touched node again.
 * Source: docs/behaviour/scheduling.md#plans-become-state.
 */
export interface Plan {
  readonly evaluationId: string;
  readonly namespace: string;
  readonly jobId: string;
  readonly jobVersion: number;
  /** Of the job that the plan was made for; 0 when there was none. */
  readonly jobModifyIndex: number;
  readonly priority: number;
  /** All of it or nothing. */
  readonly allAtOnce: boolean;
  readonly snapshotIndex: number;
  readonly stops: readonly PlannedStop[];
  /** New allocations. */
  readonly placements: readonly Proposed<Allocation>[];
  readonly preemptions: readonly PlannedPreemption[];
  /** Allocations that go on under another version, with the whole new row. */
  readonly inPlaceUpdates: readonly Allocation[];
  /** The one of the job's version as the plan was made; null when there was none. */
  readonly deploymentSeen: Pick<Deployment, 'ID' | 'Status'> | null;
  /** A new deployment. Its placements and updates in place name it. */
  readonly deployment: Proposed<Deployment> | null;
  readonly deploymentUpdates: readonly Pick<Deployment, 'ID' | 'Status' | 'StatusDescription'>[];
  /** Evaluations to be created: follow-ups and the blocked one. */
  readonly evaluations: readonly Proposed<Evaluation>[];
  readonly annotations: Readonly<Record<string, DesiredUpdates>>;
  /** By group, for what could not be placed. */
  readonly failures: Readonly<Record<string, PlacementMetrics>>;
  /** By group, how many are not placed yet. */
  readonly queued: Readonly<Record<string, number>>;
}
