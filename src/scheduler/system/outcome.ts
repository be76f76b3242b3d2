/**
 * The unplaced requests of a system job: only full nodes count as failures, and an evaluation waits for each
 * of them. Source: docs/behaviour/scheduling.md#system-and-sysbatch-jobs.
 */
import type { Ids } from '../../base/ports.ts';
import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { followUpEvaluation } from '../build.ts';
import type { Sheet } from '../memory/sheet.ts';
import type { GroupPlacement } from '../placing/place.ts';
import type { Unplaced } from '../placing/place-group.ts';
import { type ClusterView, descriptions, type EvaluationOutcome, type Proposed } from '../view.ts';

/** The requests whose node is full. */
export const exhausted = (placed: readonly GroupPlacement[]): readonly Unplaced[] =>
  placed.flatMap(({ unplaced }) => unplaced).filter(({ dimension }) => dimension !== '');

/** The metrics of a group's full nodes; `undefined`: no node is full. */
export function exhaustedMetrics(
  view: ClusterView,
  placed: readonly GroupPlacement[],
): PlacementMetrics | undefined {
  const full = exhausted(placed);
  const base = placed.find(({ failure }) => failure !== undefined)?.failure;
  if (full.length === 0 || base === undefined) return undefined;
  const dimensions = new Map<string, number>();
  const classes = new Map<string, number>();
  for (const { dimension, request } of full) {
    add(dimensions, dimension);
    const name = view.node(request.nodeId!)?.NodeClass ?? '';
    if (name !== '') add(classes, name);
  }
  return {
    ...base,
    NodesExhausted: full.length,
    ClassExhausted: classes.size === 0 ? null : record(classes),
    DimensionExhausted: record(dimensions),
    CoalescedFailures: full.length - 1,
  };
}

/** The metrics of a group that no node can run. */
export const filteredEverywhere = ({ NodePool }: Job, { counts }: Sheet): PlacementMetrics => ({
  NodesEvaluated: counts.candidates,
  NodesFiltered: counts.filtered,
  NodesInPool: counts.nodesInPool,
  NodePool,
  NodesAvailable: record(counts.available),
  ClassFiltered: counts.classes.size === 0 ? null : record(counts.classes),
  ConstraintFiltered: counts.constraints.size === 0 ? null : record(counts.constraints),
  NodesExhausted: 0,
  ClassExhausted: null,
  DimensionExhausted: null,
  QuotaExhausted: null,
  ResourcesExhausted: null,
  Scores: null,
  ScoreMetaData: null,
  AllocationTime: 0,
  CoalescedFailures: 0,
});

const add = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

const record = (counts: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...counts].sort(([left], [right]) => (left < right ? -1 : 1)));

interface WaitInput {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly job: Job;
  readonly placed: readonly GroupPlacement[];
  readonly failures: Plan['failures'];
  readonly nowMs: number;
  readonly ids: Ids;
}

/**
 * Makes a blocked evaluation for each full node, or a single one if many nodes are full. An evaluation that
 * was blocked for its node stays blocked instead.
 */
export function waitForNodes({ view, evaluation, job, placed, failures, nowMs, ids }: WaitInput): {
  readonly evaluations: readonly Proposed<Evaluation>[];
  readonly outcome: Partial<EvaluationOutcome>;
} {
  const full = [...new Set(exhausted(placed).map(({ request }) => request.nodeId!))];
  const awaitedNodes = full.length > limits.evaluation.nodesAwaitedMax ? [''] : full;
  const waits = evaluation.Status === 'blocked' && awaitedNodes.includes(evaluation.NodeID);
  const evaluations = awaitedNodes
    .filter((nodeId) => !(waits && nodeId === evaluation.NodeID))
    .map((nodeId) =>
      followUpEvaluation(
        { id: ids.uuid(), evaluation, job, nowMs },
        {
          Status: 'blocked',
          StatusDescription: descriptions.blocked,
          FailedTGAllocs: failures,
          NodeID: nodeId,
          NodeModifyIndex: view.node(nodeId)?.ModifyIndex ?? 0,
          EscapedComputedClass: nodeId === '',
          SnapshotIndex: view.index,
        },
      ),
    );
  const statusDescription = waits ? descriptions.blocked : '';
  const forAll = evaluations.find(({ NodeID }) => NodeID === '');
  return {
    evaluations,
    outcome: {
      ...(waits && { status: 'blocked', statusDescription }),
      blockedEvaluationId: forAll?.ID ?? '',
      escapedComputedClass: waits && evaluation.NodeID === '',
      awaitedNodes,
    },
  };
}
