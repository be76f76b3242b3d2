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
 * What registering a job would do. Source: docs/contract/jobs.md#plan-a-job,
 * docs/behaviour/jobs.md#plans.
 */
export const JobPlanSchema = Type.Object({
  /** For a registration that is to do just this; `''` where the plan is too large to be kept. */
  PlanID: Text(),
  Annotations: Type.Object({
    DesiredTGUpdates: FullMapOf(DesiredUpdatesSchema),
    /** Preempted allocations, as far as the caller may read them. */
    PreemptedAllocs: Nullable(Type.Array(Type.Unsafe<AllocationStub>(Anything()))),
  }),
  /** By group, why what finds no node finds none. */
  FailedTGAllocs: MapOf(PlacementMetricsSchema),
  /** Of the job as it is registered; 0 when it is new. */
  JobModifyIndex: Whole(),
  CreatedEvals: List(PresentedEvaluationSchema),
  /** Only when asked for. */
  Diff: Nullable(JobDiffSchema),
  /** RFC 3339; the year 1 where nothing is launched by a schedule. */
  NextPeriodicLaunch: Text(),
  Warnings: Text(),
  Index: Whole(),
  /** The changes, allocation by allocation. */
  Changes: FullList(PlannedChangeSchema),
  /** Further changes that are too many to be told, or that the caller may not read. */
  ChangesHidden: Whole(),
});
export interface JobPlan extends Model<typeof JobPlanSchema> {}

/** The instant that is none. */
