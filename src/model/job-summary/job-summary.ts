import { FullMapOf, type Model, stamps, Text, Type, Whole } from '../schema.ts';

/** Allocations of one group, by how they fare. Source: facts/scheduler.md §3.8. */
export const GroupSummarySchema = Type.Object({
  Queued: Whole(),
  Complete: Whole(),
  Failed: Whole(),
  Running: Whole(),
  Starting: Whole(),
  Lost: Whole(),
  Unknown: Whole(),
});
export type GroupSummary = Model<typeof GroupSummarySchema>;

export const ChildrenSummarySchema = Type.Object({
  Pending: Whole(),
  Running: Whole(),
  Dead: Whole(),
});
export type ChildrenSummary = Model<typeof ChildrenSummarySchema>;

/** Source: spec/3-jobs.md §2.2. `JobCreateIndex` tells which registration is counted. */
export const JobSummarySchema = Type.Object({
  JobID: Text(),
  Namespace: Text(),
  JobCreateIndex: Whole(),
  Summary: FullMapOf(GroupSummarySchema),
  Children: ChildrenSummarySchema,
  ...stamps,
});
export type JobSummary = Model<typeof JobSummarySchema>;
