/**
 * What the scheduler sees of the cluster, and what it answers.
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
  /** Whether jobs of the type may evict those of lower priority. */
  readonly preemption: Readonly<Record<JobType, boolean>>;
}

export const schedulerDefaults: SchedulerConfiguration = {
  algorithm: 'binpack',
  preemption: { system: true, sysbatch: false, batch: false, service: false },
};

/** A consistent view of the state: it does not change while an evaluation is decided. */
export interface ClusterView extends OccupancyView {
  /** Index of the snapshot that this is. */
  readonly index: number;
  readonly configuration: SchedulerConfiguration;
  job(namespace: string, id: string): Job | undefined;
  /** A version that allocations may still run; `undefined` when it is no longer kept. */
  jobVersion(namespace: string, id: string, version: number): Job | undefined;
  /** Every allocation there is of the job id, those of earlier registrations included. */
  allocationsOfJob(namespace: string, jobId: string): Iterable<Allocation>;
  /** Every deployment there is of the job id, of any version and registration. */
  deploymentsOfJob(namespace: string, jobId: string): Iterable<Deployment>;
  /** Whether nothing more comes of an evaluation, or there is none of the id. */
  isOver(namespace: string, evaluationId: string): boolean;
  node(id: string): Node | undefined;
  /** Every node, ascending by id. */
  nodes(): Iterable<Node>;
}

/** A record that no transaction has stamped yet. */
export type Proposed<R> = Omit<R, 'CreateIndex' | 'ModifyIndex' | 'AllocModifyIndex'>;

/** What becomes of the evaluation itself once the plan is committed. */
export interface EvaluationOutcome {
  /**
   * `complete`: all that could be done is in the plan. `blocked`: the evaluation was a blocked one
   * and goes on waiting, with the eligibility given here. `failed`: it can never be decided.
   */
  readonly status: Extract<Evaluation['Status'], 'complete' | 'blocked' | 'failed'>;
  readonly statusDescription: string;
  /** Id of the blocked evaluation among the plan's; `''` when there is none. */
  readonly blockedEvaluationId: string;
  readonly failures: Evaluation['FailedTGAllocs'];
  readonly queued: Evaluation['QueuedAllocations'];
  /** Classes that were looked at, and whether an unplaced group could run there. */
  readonly classEligibility: Evaluation['ClassEligibility'];
  readonly escapedComputedClass: boolean;
  /**
   * Of jobs that want something on every node: the nodes that an evaluation is to wait for each, and
   * no others; `''` is any node. `undefined` for the other jobs.
   */
  readonly awaitedNodes?: readonly string[];
}

export interface SchedulerResult {
  readonly plan: Plan;
  /**
   * The plan changes no allocation and no deployment; only the outcome and `plan.evaluations` are
   * to be written.
   */
  readonly isEmpty: boolean;
  readonly outcome: EvaluationOutcome;
}

/** Why an allocation is stopped or changed. Source: docs/behaviour/allocations.md#descriptions. */
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
