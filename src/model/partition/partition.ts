import { limits } from '../limits.ts';
import { type Model, stamps, Text, Type } from '../schema.ts';

/** A realm of namespaces. Names in one partition say nothing in another. facts/registry.md §7. */
export const PartitionSchema = Type.Object({
  Name: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  ...stamps,
});
export type Partition = Model<typeof PartitionSchema>;
