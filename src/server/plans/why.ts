import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';

/** The reason of a placement on the node, in words; `''`: it is not known. */
export function placementReason(metrics: PlacementMetrics | null, nodeId: string): string {
  if (metrics === null) return '';
  const score = metrics.ScoreMetaData?.find(({ NodeID }) => NodeID === nodeId)?.NormScore;
  const unfit = metrics.NodesFiltered + metrics.NodesExhausted;
  return [
    score === undefined ? 'the node fits' : `the best score, ${score.toFixed(3)}`,
    `${metrics.NodesEvaluated} ${metrics.NodesEvaluated === 1 ? 'node' : 'nodes'} looked at`,
    ...(unfit === 0 ? [] : [`${unfit} without room or not suitable`]),
  ].join(', ');
}
