import type { PlacementMetrics } from './placement-metrics.ts';

/** Kinds of reasons why an allocation has no place. Texts of constraints are not among them, as users write them. */
export const placementReasons = [
  'no-nodes',
  'cpu',
  'memory',
  'disk',
  'cores',
  'network',
  'device',
  'volume',
  'driver',
  'distinct',
  'constraint',
  'other',
] as const;
export type PlacementReason = (typeof placementReasons)[number];

/**
 * The reason that ruled out most nodes; of equal reasons a lack of room goes first.
 * Source: docs/behaviour/scheduling.md#metrics-of-a-placement.
 */
export function placementReason(metrics: PlacementMetrics): PlacementReason {
  if (metrics.NodesEvaluated === 0) return 'no-nodes';
  const counts = new Map<PlacementReason, number>();
  const count = (
    found: Readonly<Record<string, number>> | null,
    of: (text: string) => PlacementReason,
  ) => {
    for (const [text, nodes] of Object.entries(found ?? {})) {
      counts.set(of(text), (counts.get(of(text)) ?? 0) + nodes);
    }
  };
  count(metrics.DimensionExhausted, ofShortage);
  count(metrics.ConstraintFiltered, ofRule);
  let most: PlacementReason = 'other';
  for (const [reason, nodes] of counts) if (nodes > (counts.get(most) ?? 0)) most = reason;
  return most;
}

const shortages: Readonly<Record<string, PlacementReason>> = {
  cpu: 'cpu',
  memory: 'memory',
  disk: 'disk',
  cores: 'cores',
};

function ofShortage(dimension: string): PlacementReason {
  if (dimension.startsWith('network: ')) return 'network';
  if (dimension.startsWith('devices: ')) return 'device';
  return shortages[dimension] ?? 'other';
}

function ofRule(rule: string): PlacementReason {
  if (rule === 'missing drivers' || rule.startsWith('unhealthy driver')) return 'driver';
  if (rule.startsWith('distinct_')) return 'distinct';
  if (!rule.startsWith('missing ')) return 'constraint';
  if (rule.includes('device')) return 'device';
  return rule.includes('network') ? 'network' : 'volume';
}
