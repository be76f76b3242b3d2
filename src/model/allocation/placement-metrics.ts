import { FullMapOf, List, MapOf, type Model, Nanoseconds, Text, Type, Whole } from '../schema.ts';

/**
 * Why an allocation was placed on its node, or on none. All allocations of a placement run share the record;
 * it is never copied. Source: docs/behaviour/scheduling.md#metrics-of-a-placement.
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
  /** Always null: `ScoreMetaData` replaced it. */
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
