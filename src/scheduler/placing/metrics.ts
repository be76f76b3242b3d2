/**
 * The metrics of a placement. Counts are complete, because placing considers every candidate node.
 * Source: docs/behaviour/scheduling.md#metrics-of-a-placement.
 */
import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { feasible } from '../memory/sheet.ts';
import type { Candidates } from './candidates.ts';

type Counts = Map<string, number>;

const add = (counts: Counts, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

/** Sorted by name, so that the order of counting does not show. */
const record = (counts: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...counts].sort(([left], [right]) => (left < right ? -1 : 1)));

const recordOrNull = (counts: Counts): Record<string, number> | null =>
  counts.size === 0 ? null : record(counts);

/** The metrics for the next placement on the candidates. */
export function measure(
  job: Job,
  group: TaskGroup,
  candidates: Candidates,
  penalized: ReadonlySet<string>,
): PlacementMetrics {
  const { counts } = candidates.sheet;
  const shut = countShut(candidates);
  return {
    NodesEvaluated: counts.candidates,
    NodesFiltered: counts.filtered + shut.filtered,
    NodesInPool: counts.nodesInPool,
    NodePool: job.NodePool,
    NodesAvailable: record(counts.available),
    ClassFiltered: recordOrNull(shut.classesFiltered),
    ConstraintFiltered: recordOrNull(shut.constraints),
    NodesExhausted: shut.exhausted,
    ClassExhausted: recordOrNull(shut.classesExhausted),
    DimensionExhausted: recordOrNull(shut.dimensions),
    QuotaExhausted: null,
    ResourcesExhausted: shut.exhausted === 0 ? null : askedResources(group),
    Scores: null,
    ScoreMetaData: bestScores(candidates, penalized),
    AllocationTime: 0,
    CoalescedFailures: 0,
  };
}

interface Shut {
  filtered: number;
  exhausted: number;
  readonly constraints: Counts;
  readonly classesFiltered: Counts;
  readonly dimensions: Counts;
  readonly classesExhausted: Counts;
}

/** Adds the feasible nodes that are not open to the sheet's counts. */
function countShut(candidates: Candidates): Shut {
  const { counts, hasFull } = candidates.sheet;
  const shut: Shut = {
    filtered: 0,
    exhausted: 0,
    dimensions: new Map(),
    classesExhausted: new Map(),
    constraints: new Map(counts.constraints),
    classesFiltered: new Map(counts.classes),
  };
  if (candidates.hasDistinctRules) countByNode(candidates, shut);
  else if (hasFull) countFull(candidates, shut);
  return shut;
}

/** With distinct rules every node has to be tested. */
function countByNode(candidates: Candidates, shut: Shut): void {
  const { sheet, nodes } = candidates;
  for (const [slot, node] of nodes.entries()) {
    if (sheet.failed[slot] !== feasible) continue;
    const distinct = candidates.distinctAt(slot);
    if (distinct !== undefined) {
      shut.filtered++;
      add(shut.constraints, distinct.text(node));
      if (node.NodeClass !== '') add(shut.classesFiltered, node.NodeClass);
    } else if (sheet.isFull(slot)) {
      shut.exhausted++;
      add(shut.dimensions, sheet.dimensionAt(slot));
      if (node.NodeClass !== '') add(shut.classesExhausted, node.NodeClass);
    }
  }
}

function countFull({ sheet, nodes }: Candidates, shut: Shut): void {
  for (const [dimension, count] of sheet.exhausted()) {
    shut.exhausted += count;
    shut.dimensions.set(dimension, count);
  }
  const { numberAt, values } = sheet.fleet.column('${node.class}');
  const full = new Int32Array(values.names.length);
  for (let slot = 0; slot < nodes.length; slot++) {
    if (sheet.isFull(slot)) full[numberAt[slot]!]!++;
  }
  for (const [number, count] of full.entries()) {
    const name = values.names[number]!;
    if (count > 0 && name !== '') shut.classesExhausted.set(name, count);
  }
}

const askedResources = (group: TaskGroup): NonNullable<PlacementMetrics['ResourcesExhausted']> =>
  Object.fromEntries(
    group.Tasks.map(({ Name, Resources }) => [
      Name,
      { CPU: Resources.CPU, MemoryMB: Resources.MemoryMB, DiskMB: Resources.DiskMB },
    ]),
  );

function bestScores(
  candidates: Candidates,
  penalized: ReadonlySet<string>,
): PlacementMetrics['ScoreMetaData'] {
  const top = candidates.ranking(limits.scheduler.scoredNodesReported, penalized);
  if (top.length === 0) return null;
  return top.map((slot) => ({
    NodeID: candidates.nodes[slot]!.ID,
    Scores: { ...candidates.partsAt(slot, penalized) },
    NormScore: candidates.scoreAt(slot, penalized),
  }));
}
