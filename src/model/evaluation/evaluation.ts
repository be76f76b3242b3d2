import { PlacementMetricsSchema } from '../allocation/placement-metrics.ts';
import { jobTypes } from '../job/job.ts';
import {
  Choice,
  Flag,
  FullMapOf,
  Instant,
  MapOf,
  type Model,
  Nanoseconds,
  Nullable,
  stamps,
  Text,
  Type,
  Whole,
} from '../schema.ts';

export const evaluationStatuses = ['pending', 'blocked', 'complete', 'failed', 'canceled'] as const;

/** Source: docs/behaviour/evaluations.md#triggers. */
export const evaluationTriggers = [
  'job-register',
  'job-deregister',
  'periodic-job',
  'node-drain',
  'node-update',
  'alloc-stop',
  'scheduled',
  'rolling-update',
  'deployment-watcher',
  'failed-follow-up',
  'max-plan-attempts',
  'alloc-failure',
  'queued-allocs',
  'preemption',
  'job-scaling',
  'max-disconnect-timeout',
  'reconnect',
  'alloc-reschedule',
] as const;
export type EvaluationTrigger = (typeof evaluationTriggers)[number];

/** The changes of a plan to a group. Source: docs/behaviour/jobs.md#plans. */
export const DesiredUpdatesSchema = Type.Object({
  Ignore: Whole(),
  Place: Whole(),
  Migrate: Whole(),
  Stop: Whole(),
  InPlaceUpdate: Whole(),
  DestructiveUpdate: Whole(),
  Canary: Whole(),
  Preemptions: Whole(),
  Disconnect: Whole(),
  Reconnect: Whole(),
  RescheduleNow: Whole(),
  RescheduleLater: Whole(),
});
export type DesiredUpdates = Model<typeof DesiredUpdatesSchema>;

/** A job that the scheduler has to look at. Source: docs/contract/jobs.md#records-of-a-job. */
export const EvaluationSchema = Type.Object({
  ID: Text(),
  Namespace: Text(),
  Priority: Whole(),
  Type: Choice(jobTypes, 'service'),
  TriggeredBy: Choice(evaluationTriggers, 'job-register'),
  JobID: Text(),
  JobModifyIndex: Whole(),
  NodeID: Text(),
  NodeModifyIndex: Whole(),
  DeploymentID: Text(),
  Status: Choice(evaluationStatuses, 'pending'),
  StatusDescription: Text(),
  Wait: Nanoseconds(),
  /** The earliest time of the evaluation; 0: at once. */
  WaitUntil: Instant(),
  NextEval: Text(),
  PreviousEval: Text(),
  BlockedEval: Text(),
  FailedTGAllocs: MapOf(PlacementMetricsSchema),
  ClassEligibility: MapOf(Type.Boolean()),
  EscapedComputedClass: Flag(),
  QuotaLimitReached: Text(),
  AnnotatePlan: Flag(),
  PlanAnnotations: Nullable(Type.Object({ DesiredTGUpdates: FullMapOf(DesiredUpdatesSchema) })),
  QueuedAllocations: FullMapOf(Type.Integer()),
  /** The index of the state that the scheduler last read for it. */
  SnapshotIndex: Whole(),
  ...stamps,
  CreateTime: Instant(),
  ModifyTime: Instant(),
});
export interface Evaluation extends Model<typeof EvaluationSchema> {}

/** A pending evaluation that no scheduler has begun. The caller adds its job and trigger. */
export const unbegun = {
  NodeID: '',
  NodeModifyIndex: 0,
  DeploymentID: '',
  Status: 'pending',
  StatusDescription: '',
  Wait: 0,
  WaitUntil: 0,
  NextEval: '',
  PreviousEval: '',
  BlockedEval: '',
  FailedTGAllocs: null,
  ClassEligibility: null,
  EscapedComputedClass: false,
  QuotaLimitReached: '',
  AnnotatePlan: false,
  PlanAnnotations: null,
  QueuedAllocations: {},
  SnapshotIndex: 0,
} as const satisfies Partial<Evaluation>;

/** `blocked` is not terminal: the evaluation runs again when there is room. */
export const isTerminalEvaluation = (evaluation: Pick<Evaluation, 'Status'>): boolean =>
  evaluation.Status === 'complete' ||
  evaluation.Status === 'failed' ||
  evaluation.Status === 'canceled';
