import { FullMapOf, List, MapOf, type Model, Nanoseconds, Text, Type, Whole } from '../schema.ts';

/**
 * How a placement came about, or why there was none.
 * Source: docs/behaviour/scheduling.md#metrics-of-a-placement. Shared by the allocations of one
 * placement run, never copied for each.
 */
export const PlacementMetricsSchema = Type.Object({
  NodesEvaluated: Whole(),
  NodesFiltered: Whole(),
  NodesInPool: Whole(),
  NodePool: Text(),
  NodesAvailable: FullMapOf(Type.Integer()),
  ClassFiltered: MapOf(Type.Integer()),
  ConstraintFiltered: MapOf(Type.Integer()),
  NodesExhausted: Whole(),
  ClassExhausted: MapOf(Type.Integer()),
  DimensionExhausted: MapOf(Type.Integer()),
  QuotaExhausted: List(Type.String()),
  ResourcesExhausted: MapOf(Type.Object({ CPU: Whole(), MemoryMB: Whole(), DiskMB: Whole() })),
  /** Kept null; `ScoreMetaData` replaced it. */
  Scores: MapOf(Type.Number()),
  ScoreMetaData: List(
    Type.Object({
      NodeID: Text(),
      Scores: FullMapOf(Type.Number()),
      NormScore: Type.Number({ default: 0 }),
    }),
  ),
  AllocationTime: Nanoseconds(),
  CoalescedFailures: Whole(),
});
export type PlacementMetrics = Model<typeof PlacementMetricsSchema>;
