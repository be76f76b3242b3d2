import { FullMapOf, type Model, stamps, Text, Type, Whole } from '../schema.ts';
import { NodeSchema } from './node.ts';

const { Name, Datacenter, NodePool, NodeClass, Status, SchedulingEligibility, Drain } =
  NodeSchema.properties;

const AmountsSchema = Type.Object({ CPU: Whole(), MemoryMB: Whole(), DiskMB: Whole() });

/** A node with what it offers and what allocations hold of it. Source: docs/behaviour/nodes.md#topology. */
export const NodeTopologySchema = Type.Object({
  ID: Text(),
  Name,
  Datacenter,
  NodePool,
  NodeClass,
  /** The asked keys of its meta, as far as it has them. */
  Meta: FullMapOf(Type.String()),
  Status,
  SchedulingEligibility,
  Drain,
  /** Of its agent; empty: it does not tell. */
  Version: Text(),
  /** The resources that allocations may hold, in MHz and MB. */
  Capacity: AmountsSchema,
  /** The resources that unfinished allocations hold. */
  Allocated: AmountsSchema,
  /** Allocations that have not ended, by their status. */
  Allocations: FullMapOf(Type.Integer()),
  ...stamps,
});
export type NodeTopology = Model<typeof NodeTopologySchema>;
