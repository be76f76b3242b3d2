import { FullMapOf, type Model, Type, Whole } from '../schema.ts';

const AmountsSchema = Type.Object({ CPU: Whole(), MemoryMB: Whole(), DiskMB: Whole() });

/** Counts of all that the caller may see. Source: docs/behaviour/attention.md#the-overview. */
export const OverviewSchema = Type.Object({
  /** By their status. Stopped jobs are dead. */
  Jobs: FullMapOf(Type.Integer()),
  /** By their client status. */
  Allocations: FullMapOf(Type.Integer()),
  /** By their status, and, if they are ready and take no new work, as `draining` or `ineligible`. */
  Nodes: FullMapOf(Type.Integer()),
  /** The resources of all nodes that are not down, in MHz and MB. */
  Capacity: AmountsSchema,
  /** The resources that allocations hold of these nodes. */
  Allocated: AmountsSchema,
});
export type Overview = Model<typeof OverviewSchema>;
