import { FullMapOf, type Model, stamps, Text, Type, Whole } from '../schema.ts';

/** Allocations of a group, counted by status. Source: docs/behaviour/jobs.md#summary-counters. */
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

/**
 * Source: docs/contract/jobs.md#records-of-a-job. `JobCreateIndex` names the registration that is counted.
 */
export const JobSummarySchema = Type.Object({
  JobID: Text(),
  Namespace: Text(),
  JobCreateIndex: Whole(),
  Summary: FullMapOf(GroupSummarySchema),
  Children: ChildrenSummarySchema,
  ...stamps,
});
export interface JobSummary extends Model<typeof JobSummarySchema> {}
