/** What is decided about a job's allocations before anything is placed, and what it is decided from. */
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
  /** What it replaces; absent for new ones. */
  readonly previous: Allocation | undefined;
  /** Done only if the placement succeeds, so that a service never shrinks for an update. */
  readonly stop: PlannedStop | undefined;
  /** Of a reschedule, for the tracker. */
  readonly delayNs: number;
  /** The deployment that it becomes part of; `''` for none. */
  readonly deploymentId: string;
  readonly isCanary: boolean;
  /** The one node that it may be placed on; `undefined`: any. */
  readonly nodeId?: string;
}

/** Placements of one version of a group. */
export interface PlacementOrder {
  /** The version that is placed. */
  readonly job: Job;
  readonly group: TaskGroup;
  /** In the order of §6.3: canaries, reschedules, lost ones, new ones, updates, migrations. */
  readonly placements: readonly PlacementRequest[];
}

export interface GroupDecision extends PlacementOrder {
  readonly stops: readonly PlannedStop[];
  /** Of an older version, and able to take up the new one where they are, rules permitting. */
  readonly inPlace: readonly Allocation[];
  /** What those updated in place become part of; `''`: nothing. */
  readonly deploymentId: string;
  /** Of earlier versions, where the current one must not come yet. */
  readonly earlier: readonly PlacementOrder[];
  /** Ids of those that are away while others do their work: they count nowhere. */
  readonly replacedAway: readonly string[];
  readonly postponed: readonly Postponed[];
  /** What a new deployment says of the group. */
  readonly entry: DeploymentGroup | undefined;
  /**
   * The group has all that it is to have, and nothing of its deployment is on its way, what is
   * placed by this decision aside.
   */
  readonly isSettled: boolean;
  /** Why nothing at all of the group can be placed; absent where that is found out by trying. */
  readonly failure?: PlacementMetrics;
  readonly updates: DesiredUpdates;
}

/** What is come back to later. */
export interface Postponed {
  /** What is noted of the allocation meanwhile. */
  readonly stop: PlannedStop;
  readonly dueMs: number;
  readonly cause: 'reschedule' | 'disconnect';
}

export interface Reconciliation {
  /** Of a stopped job and of groups that are no more. */
  readonly stops: readonly PlannedStop[];
  readonly stopsByGroup: ReadonlyMap<string, number>;
  readonly groups: readonly GroupDecision[];
  /** Of the current version, whatever became of it. */
  readonly deployment: Deployment | undefined;
  /** Id of the deployment that the groups' entries make; `''`: of none. */
  readonly newDeploymentId: string;
  /** Deployments that nobody needs any more. */
  readonly cancellations: Plan['deploymentUpdates'];
}

export interface ReconcileContext extends EvaluationContext {
  readonly triggeredBy: EvaluationTrigger;
  readonly job: Job | undefined;
  readonly allocations: readonly Allocation[];
  readonly deployments: readonly Deployment[];
  readonly nodeOf: (id: string) => Node | undefined;
  /** A new one at each call. */
  readonly newId: () => string;
  readonly versions: VersionTests;
}

/** How the job as it is now compares with what allocations run. */
export interface VersionTests {
  /** Whether only a new allocation can take up the job as it is now. */
  readonly isOutdated: (allocation: Allocation) => boolean;
  /** Whether its group may have fewer allocations now, and nothing else changed. */
  readonly isScaledDown: (allocation: Allocation) => boolean;
  /** The version that it runs, of this registration of the job and with its group. */
  readonly versionOf: (allocation: Allocation) => Job | undefined;
  /**
   * Splits allocations of older versions that could stay as far as their specification goes: those
   * that pass the new version's rules where they are, and the others.
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

/** What the job's groups are reconciled with. */
export interface GroupContext extends ReconcileContext {
  readonly job: Job;
  /** Of the current version, whatever became of it. */
  readonly deployment: Deployment | undefined;
  /** The same at each call. */
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
