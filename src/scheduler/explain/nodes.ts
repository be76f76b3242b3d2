/**
 * For every node, what the scheduler holds against it or how good it is: with the very rules, rooms
 * and scores of placement. Source: docs/behaviour/scheduling.md#explanations, #scores.
 *
 * 1. Every node of the fleet gets one verdict, in the order of the node ids.
 * 2. The verdicts of a field counted give the metrics of a placement that is measured on it:
 *    `filtered` is NodesFiltered, `exhausted` is NodesExhausted, all but `excluded` NodesEvaluated.
 */
import { drained, type Steps } from '../../base/steps.ts';
import type { Job } from '../../model/job/job.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { firstFailed } from '../fitting/feasibility.ts';
import { type Lack, PlannedNode } from '../fitting/planned-node.ts';
import { SchedulerMemory } from '../memory/memory.ts';
import { feasible } from '../memory/sheet.ts';
import { Candidates } from '../placing/candidates.ts';
import { type EvictionSearch, evictionSearch, type ScoredEviction } from '../placing/evictions.ts';
import { JobLocations } from '../scoring/locations.ts';
import type { ScoreParts } from '../scoring/score.ts';
import type { ClusterView } from '../view.ts';

export type NodeVerdict =
  /** Takes no new work, or is not of the job's pool and datacenters: no candidate at all. */
  | { readonly verdict: 'excluded'; readonly rule: string; readonly text: string }
  /** The first rule that the node fails. */
  | { readonly verdict: 'filtered'; readonly rule: string; readonly text: string }
  /** The rules hold, but this is short; the first is what metrics count. */
  | {
      readonly verdict: 'exhausted';
      readonly lacks: readonly Lack[];
      /** Where others of lower priority could make way, and would have to. */
      readonly preemption?: WouldPreempt;
    }
  /** A job that wants something on every node wants nothing more on this one. */
  | { readonly verdict: 'unasked'; readonly text: string }
  | { readonly verdict: 'open'; readonly score: number; readonly parts: ScoreParts };

export interface WouldPreempt {
  /** Ids of allocations. */
  readonly victims: readonly string[];
  readonly score: number;
  readonly parts: ScoreParts;
}

export type NodeExplanation = NodeVerdict & {
  readonly nodeId: string;
  readonly nodeName: string;
  readonly nodeClass: string;
  readonly nodePool: string;
  readonly datacenter: string;
};

const nobody: ReadonlySet<string> = new Set();

/** Nodes that are explained before others get their turn; fewer where each takes more. */
const nodesPerStep = 256;
const nodesSearchedPerStep = 32;

/** Nodes in `penalized` hosted one that failed; `search` tells where others could make way. */
export function* explainCandidates(
  candidates: Candidates,
  penalized: ReadonlySet<string> = nobody,
  search?: EvictionSearch,
): Steps<readonly NodeExplanation[]> {
  const explained: NodeExplanation[] = [];
  const perStep = search === undefined ? nodesPerStep : nodesSearchedPerStep;
  for (const slot of candidates.nodes.keys()) {
    if (slot % perStep === 0) yield;
    explained.push(explainNode(candidates, slot, penalized, search));
  }
  return explained;
}

export const explainNode = (
  candidates: Candidates,
  slot: number,
  penalized: ReadonlySet<string> = nobody,
  search?: EvictionSearch,
): NodeExplanation => {
  const { ID, Name, NodeClass, NodePool, Datacenter } = candidates.nodes[slot]!;
  return {
    ...{ nodeId: ID, nodeName: Name, nodeClass: NodeClass, nodePool: NodePool },
    datacenter: Datacenter,
    ...verdictAt(candidates, slot, penalized, search),
  };
};

/** One more allocation of the group on the cluster as it is. */
export const explain = (view: ClusterView, job: Job, group: TaskGroup): Explained =>
  drained(explainSteps(view, job, group));

/** The same in steps. Nodes in `penalized` hosted one that failed. */
export function* explainSteps(
  view: ClusterView,
  job: Job,
  group: TaskGroup,
  penalized: ReadonlySet<string> = nobody,
): Steps<Explained> {
  const session = new SchedulerMemory().begin(view);
  const sheet = yield* session.sheet(job, group);
  const locations = yield* JobLocations.of(
    (id) => view.node(id),
    view.allocationsOfJob(job.Namespace, job.ID),
  );
  const candidates = yield* Candidates.of({ job, group, sheet, locations });
  return yield* explainCandidates(candidates, penalized, evictionSearch(view, job, candidates));
}

type Explained = readonly NodeExplanation[];

function verdictAt(
  candidates: Candidates,
  slot: number,
  penalized: ReadonlySet<string>,
  search: EvictionSearch | undefined,
): NodeVerdict {
  const { sheet } = candidates;
  const node = candidates.nodes[slot]!;
  if (sheet.failed[slot] !== feasible) {
    const failed = firstFailed(sheet.shape.rules, node)!;
    const { name: rule, scope } = failed;
    const text = failed.explain?.(node) ?? failed.text;
    const isCandidate = scope !== 'readiness' && scope !== 'candidate';
    return { verdict: isCandidate ? 'filtered' : 'excluded', rule, text };
  }
  const distinct = candidates.distinctAt(slot);
  if (distinct !== undefined) {
    return { verdict: 'filtered', rule: distinct.rule.name, text: distinct.text(node) };
  }
  if (sheet.isFull(slot)) {
    const preemption = wouldPreempt(search?.evictionAt(slot, penalized));
    const verdict = { verdict: 'exhausted', lacks: lacksAt(candidates, slot) } as const;
    return preemption === undefined ? verdict : { ...verdict, preemption };
  }
  const score = candidates.scoreAt(slot, penalized);
  return { verdict: 'open', score, parts: candidates.partsAt(slot, penalized) };
}

const wouldPreempt = (way: ScoredEviction | undefined): WouldPreempt | undefined =>
  way && {
    victims: way.eviction.victims.map(({ allocation }) => allocation.ID),
    score: way.score,
    parts: way.parts,
  };

function lacksAt({ sheet }: Candidates, slot: number): readonly Lack[] {
  const { fleet, shape } = sheet;
  const planned =
    fleet.plannedIfAny(slot) ?? new PlannedNode(fleet.nodes[slot]!, fleet.occupancyAt(slot));
  return planned.lacks(shape.ask);
}

type Preempting = NodeExplanation & {
  readonly verdict: 'exhausted';
  readonly preemption: WouldPreempt;
};

/** Those where others would have to make way, in the order in which placement takes them. */
export const byPreemption = (explained: Explained): readonly Preempting[] =>
  explained
    .filter((one): one is Preempting => one.verdict === 'exhausted' && one.preemption !== undefined)
    .sort(
      (left, right) =>
        right.preemption.score - left.preemption.score || (left.nodeId < right.nodeId ? -1 : 1),
    );

/** The open ones, the best first; of equal ones the lower node id, as placement takes them. */
export const byScore = (explained: Explained): readonly (NodeExplanation & { verdict: 'open' })[] =>
  explained
    .filter((one) => one.verdict === 'open')
    .sort((left, right) => right.score - left.score || (left.nodeId < right.nodeId ? -1 : 1));
