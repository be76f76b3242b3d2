/**
 * The difference of two jobs, in the published form. Source: docs/contract/jobs.md#versions-and-sources.
 */
import { Choice, FullMapOf, List, type Model, Nullable, Text, Type, Whole } from '../schema.ts';

export const diffTypes = ['None', 'Added', 'Deleted', 'Edited'] as const;
export type DiffType = (typeof diffTypes)[number];

/** A value, as text; `''` if there is none. */
const FieldDiffSchema = Type.Object({
  Type: Choice(diffTypes, 'None'),
  Name: Text(),
  Old: Text(),
  New: Text(),
  Annotations: List(Type.String()),
});
export type FieldDiff = Model<typeof FieldDiffSchema>;

/** A block inside a job, group, task or another block. */
export interface ObjectDiff {
  readonly Type: DiffType;
  readonly Name: string;
  readonly Fields: readonly FieldDiff[] | null;
  readonly Objects: readonly ObjectDiff[] | null;
}

/** Not in limits: no blocks of a job nest deeper than `Service`, `Check`, `CheckRestart`. */
const depthMax = 3;

/** The schema is written out level by level, since schemas of the model do not refer to themselves. */
function objectDiffSchema(depth: number): Type.TSchema {
  return Type.Object({
    Type: Choice(diffTypes, 'None'),
    Name: Text(),
    Fields: List(FieldDiffSchema),
    Objects: depth < depthMax ? List(objectDiffSchema(depth + 1)) : Type.Null(),
  });
}
const Objects = List(
  Type.Unsafe<ObjectDiff>(objectDiffSchema(1) as unknown as Record<string, unknown>),
);

const TaskDiffSchema = Type.Object({
  Type: Choice(diffTypes, 'None'),
  Name: Text(),
  Fields: List(FieldDiffSchema),
  Objects,
  Annotations: List(Type.String()),
});
export type TaskDiff = Model<typeof TaskDiffSchema>;

const GroupDiffSchema = Type.Object({
  Type: Choice(diffTypes, 'None'),
  Name: Text(),
  Fields: List(FieldDiffSchema),
  Objects,
  Tasks: List(TaskDiffSchema),
  /** How many allocations a plan creates, updates and so on; null if nothing was planned. */
  Updates: Nullable(FullMapOf(Whole())),
});
export type GroupDiff = Model<typeof GroupDiffSchema>;

export const JobDiffSchema = Type.Object({
  Type: Choice(diffTypes, 'None'),
  ID: Text(),
  Fields: List(FieldDiffSchema),
  Objects,
  TaskGroups: List(GroupDiffSchema),
});
export type JobDiff = Model<typeof JobDiffSchema>;
