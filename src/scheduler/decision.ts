/** The decision about a job's allocations before anything is placed, and its input. */
import type { Steps } from '../base/steps.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import type { PlacementMetrics } from '../model/allocation/placement-metrics.ts';
import type { Deployment, DeploymentGroup } from '../model/deployment/deployment.ts';
import type { DesiredUpdates, EvaluationTrigger } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { Plan, PlannedStop } from '../model/plan/plan.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import type { EvaluationContext } from './waiting.ts';

export interface PlacementRequest {
  readonly kind: 'reschedule' | 'lost' | 'new' | 'update' | 'migrate';
  readonly name: string;
  /** The allocation to replace; `undefined` for an additional allocation. */
  readonly previous: Allocation | undefined;
  /** Carried out only if the placement succeeds, so that a service never shrinks for an update. */
  readonly stop: PlannedStop | undefined;
  /** The delay before a reschedule, for its tracker. */
  readonly delayNs: number;
  /** The deployment that the placement joins; `''`: none. */
  readonly deploymentId: string;
  readonly isCanary: boolean;
  /** The only node allowed; `undefined`: any node. */
  readonly nodeId?: string;
}

/** Placements of one version of a group. */
export interface PlacementOrder {
  /** The version to place. */
  readonly job: Job;
  readonly group: TaskGroup;
  /** In this order: canaries, reschedules, lost, new, updates, migrations. */
  readonly placements: readonly PlacementRequest[];
}

export interface GroupDecision extends PlacementOrder {
  readonly stops: readonly PlannedStop[];
  /** Allocations of an older version that take up the current one on their node. */
  readonly inPlace: readonly Allocation[];
  /** The deployment that the allocations updated in place join; `''`: none. */
  readonly deploymentId: string;
  /** Placements of earlier versions, while the current version must not be placed yet. */
  readonly earlier: readonly PlacementOrder[];
  /** Ids of replaced allocations whose nodes are away: they do not count. */
  readonly replacedAway: readonly string[];
  readonly postponed: readonly Postponed[];
  /** The group's entry in a new deployment. */
  readonly entry: DeploymentGroup | undefined;
  /**
   * Whether the group is complete and its deployment has nothing under way, apart from this decision's
   * placements.
   */
  readonly isSettled: boolean;
  /** The reason that no node can take the group; absent if only placing can tell. */
  readonly failure?: PlacementMetrics;
  readonly updates: DesiredUpdates;
}

/** An allocation that a later evaluation deals with. */
export interface Postponed {
  /** The note that the allocation gets meanwhile. */
  readonly stop: PlannedStop;
  readonly dueMs: number;
  readonly cause: 'reschedule' | 'disconnect';
}

export interface Reconciliation {
  /** Stops for a stopped job, and for groups that the job no longer has. */
  readonly stops: readonly PlannedStop[];
  readonly stopsByGroup: ReadonlyMap<string, number>;
  readonly groups: readonly GroupDecision[];
  /** The deployment of the current version, in any status. */
  readonly deployment: Deployment | undefined;
  /** Id of the deployment that the groups' entries create; `''`: none is created. */
  readonly newDeploymentId: string;
  /** Deployments that end because the job stopped or has a newer version. */
  readonly cancellations: Plan['deploymentUpdates'];
}

export interface ReconcileContext extends EvaluationContext {
  readonly triggeredBy: EvaluationTrigger;
  readonly job: Job | undefined;
  readonly allocations: readonly Allocation[];
  readonly deployments: readonly Deployment[];
  readonly nodeOf: (id: string) => Node | undefined;
  /** A fresh id at each call. */
  readonly newId: () => string;
  readonly versions: VersionTests;
}

/** Compares the current version of the job with the versions that allocations run. */
export interface VersionTests {
  /** Whether only a new allocation can run the current version. */
  readonly isOutdated: (allocation: Allocation) => boolean;
  /** Whether a lower count is the only change to the allocation's group. */
  readonly isScaledDown: (allocation: Allocation) => boolean;
  /**
   * The version that the allocation runs; `undefined`: it is of another registration, or its group
   * is gone.
   */
  readonly versionOf: (allocation: Allocation) => Job | undefined;
  /**
   * Splits allocations that need no replacement by their specification: `staying` pass the current
   * version's rules on their node, `leaving` do not.
   */
  readonly splitStaying: (
    group: TaskGroup,
    allocations: readonly Allocation[],
    current: readonly Allocation[],
  ) => Steps<StayingSplit>;
}

export interface StayingSplit {
  readonly staying: readonly Allocation[];
  readonly leaving: readonly Allocation[];
}

/** The input for each group of the job. */
export interface GroupContext extends ReconcileContext {
  readonly job: Job;
  /** The deployment of the current version, in any status. */
  readonly deployment: Deployment | undefined;
  /** The same id at each call. */
  readonly newDeploymentId: () => string;
}

export const noUpdates: DesiredUpdates = {
  Ignore: 0,
  Place: 0,
  Migrate: 0,
  Stop: 0,
  InPlaceUpdate: 0,
  DestructiveUpdate: 0,
  Canary: 0,
  Preemptions: 0,
  Disconnect: 0,
  Reconnect: 0,
  RescheduleNow: 0,
  RescheduleLater: 0,
};
