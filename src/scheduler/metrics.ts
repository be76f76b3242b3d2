/**
 * How a placement came about. Counts are complete: every candidate node is looked at for every
 * group. Source: facts/scheduler.md §6.9.
 */
import type { PlacementMetrics } from '../model/allocation/placement-metrics.ts';
import type { Job } from '../model/job/job.ts';
import { limits } from '../model/limits.ts';
import type { Candidates } from './candidates.ts';
import type { Field } from './field.ts';

type Counts = Map<string, number>;

const add = (counts: Counts, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

const orNull = (counts: Counts): Record<string, number> | null =>
  counts.size === 0 ? null : Object.fromEntries(counts);

/** The metrics of a placement that is about to be tried on the field. */
export function measure(
  job: Job,
  candidates: Candidates,
  field: Field,
  penalized: ReadonlySet<string>,
): PlacementMetrics {
  const constraints: Counts = new Map();
  const classesFiltered: Counts = new Map();
  const dimensions: Counts = new Map();
  const classesExhausted: Counts = new Map();
  let filtered = candidates.filtered.length;
  let exhausted = 0;
  for (const { node, rule } of candidates.filtered) {
    add(constraints, rule.text);
    if (node.NodeClass !== '') add(classesFiltered, node.NodeClass);
  }
  const open: number[] = [];
  for (const [slot, node] of field.nodes.entries()) {
    const distinct = field.distinctAt(slot);
    const fit = field.fitAt(slot);
    if (distinct !== undefined) {
      filtered++;
      add(constraints, distinct.text(node));
      if (node.NodeClass !== '') add(classesFiltered, node.NodeClass);
    } else if (!fit.fits) {
      exhausted++;
      add(dimensions, fit.dimension);
      if (node.NodeClass !== '') add(classesExhausted, node.NodeClass);
    } else {
      open.push(slot);
    }
  }
  return {
    NodesEvaluated: field.nodes.length + candidates.filtered.length,
    NodesFiltered: filtered,
    NodesInPool: candidates.nodesInPool,
    NodePool: job.NodePool,
    NodesAvailable: candidates.available,
    ClassFiltered: orNull(classesFiltered),
    ConstraintFiltered: orNull(constraints),
    NodesExhausted: exhausted,
    ClassExhausted: orNull(classesExhausted),
    DimensionExhausted: orNull(dimensions),
    QuotaExhausted: null,
    ResourcesExhausted: exhausted === 0 ? null : askedResources(field),
    Scores: null,
    ScoreMetaData: bestScores(field, open, penalized),
    AllocationTime: 0,
    CoalescedFailures: 0,
  };
}

const askedResources = ({ ask }: Field): NonNullable<PlacementMetrics['ResourcesExhausted']> =>
  Object.fromEntries(
    ask.group.Tasks.map(({ Name, Resources }) => [
      Name,
      { CPU: Resources.CPU, MemoryMB: Resources.MemoryMB, DiskMB: Resources.DiskMB },
    ]),
  );

function bestScores(
  field: Field,
  open: readonly number[],
  penalized: ReadonlySet<string>,
): PlacementMetrics['ScoreMetaData'] {
  // Only a handful is kept, so a whole sort of thousands of nodes is not worth it.
  const top: { slot: number; score: number }[] = [];
  for (const slot of open) {
    const score = field.scoreAt(slot, penalized);
    const position = top.findIndex((entry) => entry.score < score);
    top.splice(position < 0 ? top.length : position, 0, { slot, score });
    if (top.length > limits.scheduler.scoredNodesReported) top.pop();
  }
  if (top.length === 0) return null;
  return top.map(({ slot, score }) => ({
    NodeID: field.nodes[slot]!.ID,
    Scores: { ...field.partsAt(slot, penalized) },
    NormScore: score,
  }));
}
