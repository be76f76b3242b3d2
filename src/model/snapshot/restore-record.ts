import {
  About,
  CountedNanoseconds,
  FullList,
  Instant,
  type Model,
  Nullable,
  Text,
  Type,
  Whole,
} from '../schema.ts';

/** A restore of the state, as the state remembers it. */
export const RestoreRecordSchema = Type.Object({
  Generation: About('Number of restores that led to this state.', Whole()),
  Index: About('Index of the restore.', Whole()),
  Time: About('When it was restored: Unix nanoseconds.', Instant()),
  UnknownUntil: About(
    'Until when nodes keep allocations that the snapshot does not know: Unix nanoseconds.',
    Instant(),
  ),
  SnapshotClusterID: About('Id of the cluster that the snapshot was saved from.', Text()),
  SnapshotIndex: About('Index of the state in the snapshot.', Whole()),
  SnapshotTime: About('When the snapshot was saved: Unix nanoseconds.', Instant()),
});
export type RestoreRecord = Model<typeof RestoreRecordSchema>;

/** The answer to a restore. */
export const RestoredSchema = Type.Object({
  Index: Whole(),
  ClusterID: About('Id of the cluster from now on.', Text()),
  Restore: RestoreRecordSchema,
});
export type Restored = Model<typeof RestoredSchema>;

/** An allocation that a node runs and that the restored snapshot does not know. */
export const UnknownAllocationSchema = Type.Object({
  ID: Text(),
  NodeID: Text(),
  ClientStatus: About('As its node reports it.', Text()),
});
export type UnknownAllocation = Model<typeof UnknownAllocationSchema>;

export const LastRestoreSchema = Type.Object({
  ClusterID: Text(),
  Restore: Nullable(RestoreRecordSchema),
  Allocations: FullList(UnknownAllocationSchema),
});

/** What a node hears of a restore when it registers. */
export const RestoredForNodeSchema = Type.Object({
  Index: Whole(),
  UnknownFor: About('How long allocations are kept that are not named.', CountedNanoseconds()),
});
export type RestoredForNode = Model<typeof RestoredForNodeSchema>;
