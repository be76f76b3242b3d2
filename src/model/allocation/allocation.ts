import {
  Choice,
  Flag,
  FullMapOf,
  Instant,
  List,
  type Model,
  Nanoseconds,
  Nullable,
  stamps,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import { AllocatedResourcesSchema } from './allocated-resources.ts';
import { PlacementMetricsSchema } from './placement-metrics.ts';
import { TaskStateSchema } from './task-state.ts';

export const desiredStatuses = ['run', 'stop', 'evict'] as const;
export const clientStatuses = [
  'pending',
  'running',
  'complete',
  'failed',
  'lost',
  'unknown',
] as const;
export type DesiredStatus = (typeof desiredStatuses)[number];
export type ClientStatus = (typeof clientStatuses)[number];

export const RescheduleTrackerSchema = Type.Object({
  Events: List(
    Type.Object({
      RescheduleTime: Instant(),
      PrevAllocID: Text(),
      PrevNodeID: Text(),
      Delay: Nanoseconds(),
    }),
  ),
  LastReschedule: Choice(['', 'ok', 'no placement']),
});
export type RescheduleTracker = Model<typeof RescheduleTrackerSchema>;

const wish = () => Nullable(Type.Boolean());

/** The changes that a caller asked for; null: no wish. Source: docs/behaviour/allocations.md#statuses. */
export const DesiredTransitionSchema = Type.Object({
  Migrate: wish(),
  Reschedule: wish(),
  ForceReschedule: wish(),
  NoShutdownDelay: wish(),
  MigrateDisablePlacement: wish(),
});
export type DesiredTransition = Model<typeof DesiredTransitionSchema>;

export const noTransition: DesiredTransition = {
  Migrate: null,
  Reschedule: null,
  ForceReschedule: null,
  NoShutdownDelay: null,
  MigrateDisablePlacement: null,
};

export const DeploymentStatusSchema = Type.Object({
  Healthy: wish(),
  Timestamp: Nullable(Type.String()),
  Canary: Flag(),
  ModifyIndex: Whole(),
});
export type AllocationDeploymentStatus = Model<typeof DeploymentStatusSchema>;

export const NetworkStatusSchema = Type.Object({
  InterfaceName: Text(),
  Address: Text(),
  AddressIPv6: Text(),
  DNS: Nullable(
    Type.Object({
      Servers: List(Type.String()),
      Searches: List(Type.String()),
      Options: List(Type.String()),
    }),
  ),
});

/**
 * A run of a task group on a node. It names its job by namespace, id, version and create index and never
 * embeds it. Source: docs/contract/jobs.md#records-of-a-job.
 */
export const AllocationSchema = Type.Object({
  ID: Text(),
  Namespace: Text(),
  EvalID: Text(),
  /** `<job>.<group>[<index>]` */
  Name: Text(),
  NodeID: Text(),
  NodeName: Text(),
  JobID: Text(),
  JobVersion: Whole(),
  /** The create index of the job: it tells apart the registrations of a job id. */
  JobCreateIndex: Whole(),
  TaskGroup: Text(),
  AllocatedResources: AllocatedResourcesSchema,
  Metrics: Nullable(PlacementMetricsSchema),
  DesiredStatus: Choice(desiredStatuses, 'run'),
  DesiredDescription: Text(),
  DesiredTransition: DesiredTransitionSchema,
  ClientStatus: Choice(clientStatuses, 'pending'),
  ClientDescription: Text(),
  TaskStates: FullMapOf(TaskStateSchema),
  AllocStates: List(Type.Object({ Field: Text(), Value: Text(), Time: Instant() })),
  PreviousAllocation: Text(),
  NextAllocation: Text(),
  FollowupEvalID: Text(),
  RescheduleTracker: Nullable(RescheduleTrackerSchema),
  DeploymentID: Text(),
  DeploymentStatus: Nullable(DeploymentStatusSchema),
  PreemptedAllocations: List(Type.String()),
  PreemptedByAllocation: Text(),
  NetworkStatus: Nullable(NetworkStatusSchema),
  ...stamps,
  /** Index of the last change by a server. A node learns from it that it has work. */
  AllocModifyIndex: Whole(),
  CreateTime: Instant(),
  ModifyTime: Instant(),
});
export interface Allocation extends Model<typeof AllocationSchema> {}

/** The statuses that a node may report. Only servers set `lost` and `unknown`. */
export const reportedStatuses = ['pending', 'running', 'complete', 'failed'] as const;

/** A node's report of an allocation. */
export const AllocationReportSchema = Type.Object({
  ID: Text(),
  ClientStatus: Choice(reportedStatuses, 'pending'),
  ClientDescription: Text(),
  TaskStates: FullMapOf(TaskStateSchema),
  /** A node sets `Healthy` and `Timestamp`; the servers set the rest. */
  DeploymentStatus: Nullable(DeploymentStatusSchema),
  /** The deployment for which the health was judged; null: the allocation's own. */
  DeploymentID: Nullable(Type.String()),
  NetworkStatus: Nullable(NetworkStatusSchema),
});
export interface AllocationReport extends Model<typeof AllocationReportSchema> {}
