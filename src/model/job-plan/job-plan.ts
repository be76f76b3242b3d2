import type { AllocationStub } from '../allocation/allocation-stub.ts';
import { PlacementMetricsSchema } from '../allocation/placement-metrics.ts';
import { DesiredUpdatesSchema } from '../evaluation/evaluation.ts';
import { PresentedEvaluationSchema } from '../evaluation/present.ts';
import { JobDiffSchema } from '../job-diff/job-diff.ts';
import { PlannedChangeSchema } from '../plan/outline.ts';
import {
  Anything,
  FullList,
  FullMapOf,
  List,
  MapOf,
  type Model,
  Nullable,
  Text,
  Type,
  Whole,
} from '../schema.ts';

/**
 * The effects of registering a job. Source: docs/contract/jobs.md#plan-a-job, docs/behaviour/jobs.md#plans.
 */
export const JobPlanSchema = Type.Object({
  /**
   * Names the plan in a registration that is to do exactly this; `''` if the plan is too large to be kept.
   */
  PlanID: Text(),
  Annotations: Type.Object({
    DesiredTGUpdates: FullMapOf(DesiredUpdatesSchema),
    /** The preempted allocations that the caller may read. */
    PreemptedAllocs: Nullable(Type.Array(Type.Unsafe<AllocationStub>(Anything()))),
  }),
  /** By group, the metrics of a placement that finds no node. */
  FailedTGAllocs: MapOf(PlacementMetricsSchema),
  /** The index of the job as it is registered; 0 for a new job. */
  JobModifyIndex: Whole(),
  CreatedEvals: List(PresentedEvaluationSchema),
  /** Present only on request. */
  Diff: Nullable(JobDiffSchema),
  /** RFC 3339; the year 1 if no schedule launches the job. */
  NextPeriodicLaunch: Text(),
  Warnings: Text(),
  Index: Whole(),
  /** The changes, allocation by allocation. */
  Changes: FullList(PlannedChangeSchema),
  /** The number of further changes that are too many to list, or that the caller may not read. */
  ChangesHidden: Whole(),
});
export interface JobPlan extends Model<typeof JobPlanSchema> {}

/** The instant that means "never". */
