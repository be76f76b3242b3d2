import {
  Anything,
  Instant,
  List,
  type Model,
  Nullable,
  stamps,
  Text,
  Type,
  Whole,
} from '../schema.ts';

/**
 * An event of scaling: a caller scaled a group, or reported about its scale. `Error` is as it was given: a
 * text, or `true` if the message tells an error; `""` if there was none. `Count` is null if nothing was
 * scaled, and `EvalID` is null if nothing had to be scheduled. Source: docs/contract/jobs.md#scale-a-group,
 * docs/behaviour/jobs.md#scale.
 */
export const ScalingEventSchema = Type.Object({
  Time: Instant(),
  Count: Nullable(Type.Integer()),
  PreviousCount: Whole(),
  Message: Text(),
  Error: Anything(),
  Meta: Anything(),
  EvalID: Nullable(Text()),
  CreateIndex: Whole(),
});
export type ScalingEvent = Model<typeof ScalingEventSchema>;

/** The newest events of a group, the newest first; a row for each group. */
export const ScalingHistorySchema = Type.Object({
  Namespace: Text(),
  JobID: Text(),
  TaskGroup: Text(),
  Events: Type.Array(ScalingEventSchema),
  ...stamps,
});
export type ScalingHistory = Model<typeof ScalingHistorySchema>;

/** The scale and state of a group. Source: docs/contract/jobs.md#records-of-a-job. */
export const GroupScaleSchema = Type.Object({
  Desired: Whole(),
  Placed: Whole(),
  Running: Whole(),
  Healthy: Whole(),
  Unhealthy: Whole(),
  Events: List(ScalingEventSchema),
});
export type GroupScale = Model<typeof GroupScaleSchema>;

/** Source: docs/contract/jobs.md#records-of-a-job. */
export const ScaleStatusSchema = Type.Object({
  JobID: Text(),
  Namespace: Text(),
  JobCreateIndex: Whole(),
  JobModifyIndex: Whole(),
  JobStopped: Type.Boolean(),
  TaskGroups: Type.Record(Type.String(), GroupScaleSchema),
});
export interface ScaleStatus extends Model<typeof ScaleStatusSchema> {}
