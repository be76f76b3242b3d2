import { limits } from '../limits.ts';
import { type Model, stamps, Text, Type } from '../schema.ts';

/** A set of namespaces. Source: docs/behaviour/access-control.md#namespaces-and-partitions. */
export const PartitionSchema = Type.Object({
  Name: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  ...stamps,
});
export interface Partition extends Model<typeof PartitionSchema> {}
