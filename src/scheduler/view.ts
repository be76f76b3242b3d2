/**
 * The scheduler's input (`ClusterView`) and its answer (`SchedulerResult`).
 * Source: docs/behaviour/scheduling.md#the-scheduler.
 */
import type { Allocation } from '../model/allocation/allocation.ts';
import type { Deployment } from '../model/deployment/deployment.ts';
import type { Evaluation } from '../model/evaluation/evaluation.ts';
import type { Job, JobType } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { Plan } from '../model/plan/plan.ts';
import type { OccupancyView } from './fitting/occupancy.ts';

export interface SchedulerConfiguration {
  /** `binpack` fills nodes, `spread` levels them. */
  readonly algorithm: 'binpack' | 'spread';
  /** Whether jobs of the type may evict allocations of lower priority. */
  readonly preemption: Readonly<Record<JobType, boolean>>;
}

export const schedulerDefaults: SchedulerConfiguration = {
  algorithm: 'binpack',
  preemption: { system: true, sysbatch: false, batch: false, service: false },
};

/** A consistent view of the state: it does not change while an evaluation is decided. */
export interface ClusterView extends OccupancyView {
  /** Index of the snapshot that the view shows. */
  readonly index: number;
  readonly configuration: SchedulerConfiguration;
  job(namespace: string, id: string): Job | undefined;
  /** A version of the job that allocations may still run; `undefined` when it is no longer kept. */
  jobVersion(namespace: string, id: string, version: number): Job | undefined;
  /** Every allocation of the job id, including those of earlier registrations. */
  allocationsOfJob(namespace: string, jobId: string): Iterable<Allocation>;
  /** Every deployment of the job id, of any version and registration. */
  deploymentsOfJob(namespace: string, jobId: string): Iterable<Deployment>;
  /** Whether the evaluation has ended, or no evaluation has the id. */
  isOver(namespace: string, evaluationId: string): boolean;
  node(id: string): Node | undefined;
  /** Every node, ascending by id. */
  nodes(): Iterable<Node>;
}

/** A record before a transaction gives it its indexes. */
export type Proposed<R> = Omit<R, 'CreateIndex' | 'ModifyIndex' | 'AllocModifyIndex'>;

/** The status of the evaluation itself once the plan is committed. */
export interface EvaluationOutcome {
  /**
   * `complete`: the plan has everything that could be done. `blocked`: the evaluation was blocked and
   * continues to wait, with the eligibility given here. `failed`: it can never be decided.
   */
  readonly status: Extract<Evaluation['Status'], 'complete' | 'blocked' | 'failed'>;
  readonly statusDescription: string;
  /** Id of the blocked evaluation that the plan creates; `''`: the plan creates none. */
  readonly blockedEvaluationId: string;
  readonly failures: Evaluation['FailedTGAllocs'];
  readonly queued: Evaluation['QueuedAllocations'];
  /** By computed class: whether an unplaced group could run on its nodes. */
  readonly classEligibility: Evaluation['ClassEligibility'];
  readonly escapedComputedClass: boolean;
  /**
   * System jobs only: ids of the nodes for which an evaluation has to wait, each with its own evaluation;
   * `''` is any node.
   */
  readonly awaitedNodes?: readonly string[];
}

export interface SchedulerResult {
  readonly plan: Plan;
  /**
   * Whether the plan changes no allocation and no deployment, so that only the outcome and `plan.evaluations`
   * have to be written.
   */
  readonly isEmpty: boolean;
  readonly outcome: EvaluationOutcome;
}

/**
 * The reasons that allocations are stopped or changed. Source: docs/behaviour/allocations.md#descriptions.
 */
export const descriptions = {
  notNeeded: 'alloc not needed due to job update',
  migrating: 'alloc is being migrated',
  updating: 'alloc is being updated due to job update',
  inPlace: 'alloc updating in-place',
  lost: 'alloc is lost since its node is down',
  unknown: 'alloc is unknown since its node is disconnected',
  reconnected: 'alloc not needed due to disconnected client reconnect',
  tainted: 'alloc not needed as node is tainted',
  rescheduled: 'alloc was rescheduled because it failed',
  blocked: 'created to place remaining allocations',
  conflicts: 'created due to placement conflicts',
  delayedReschedule: 'created for delayed rescheduling',
  disconnectTimeout: 'created for delayed disconnect timeout',
} as const;
