/**
 * Explains for every node why it is unsuitable, or how well it scores, with placement's own rules and scores.
 * Source: docs/behaviour/scheduling.md#explanations, #scores.
 *
 *  1. Every node of the fleet gets a verdict, in the order of the node ids.
 *  2. The verdicts add up to the placement's metrics: `filtered` to NodesFiltered, `exhausted` to
 *     NodesExhausted, and all except `excluded` to NodesEvaluated.
 */
import { drained, type Steps } from '../../base/steps.ts';
import type { Job } from '../../model/job/job.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { firstFailed } from '../fitting/feasibility.ts';
import type { Lack } from '../fitting/planned-node.ts';
import { SchedulerMemory } from '../memory/memory.ts';
import { feasible } from '../memory/sheet.ts';
import { Candidates } from '../placing/candidates.ts';
import { type EvictionSearch, evictionSearch, type ScoredEviction } from '../placing/evictions.ts';
import { JobLocations } from '../scoring/locations.ts';
import type { ScoreParts } from '../scoring/score.ts';
import type { ClusterView } from '../view.ts';

export type NodeVerdict =
  /** No candidate: the node takes no work, or is not in the job's pool and datacenters. */
  | { readonly verdict: 'excluded'; readonly rule: string; readonly text: string }
  /** The first rule that the node fails. */
  | { readonly verdict: 'filtered'; readonly rule: string; readonly text: string }
  /** The node passes the rules, but is full; metrics count the first lack. */
  | {
      readonly verdict: 'exhausted';
      readonly lacks: readonly Lack[];
      /** The evictions that would make room. */
      readonly preemption?: WouldPreempt;
    }
  /** A system job needs no further allocation on the node. */
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

/** Nodes explained in a step; fewer with a search for evictions. */
const nodesPerStep = 256;
const nodesSearchedPerStep = 32;

/** An allocation failed on the nodes in `penalized`; `search` finds evictions. */
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
    nodeId: ID,
    nodeName: Name,
    nodeClass: NodeClass,
    nodePool: NodePool,
    datacenter: Datacenter,
    ...verdictAt(candidates, slot, penalized, search),
  };
};

/** Explains the nodes for a further allocation of the group. */
export const explain = (view: ClusterView, job: Job, group: TaskGroup): Explained =>
  drained(explainSteps(view, job, group));

/** Explains in steps. An allocation failed on the nodes in `penalized`. */
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
  return fleet.lookAt(slot).lacks(shape.ask);
}

type Preempting = NodeExplanation & {
  readonly verdict: 'exhausted';
  readonly preemption: WouldPreempt;
};

/** The nodes that need evictions, in placement's order of choice. */
export const byPreemption = (explained: Explained): readonly Preempting[] =>
  explained
    .filter((one): one is Preempting => one.verdict === 'exhausted' && one.preemption !== undefined)
    .sort(
      (left, right) =>
        right.preemption.score - left.preemption.score || (left.nodeId < right.nodeId ? -1 : 1),
    );

/** The open nodes, in placement's order of choice: by score, then by node id. */
export const byScore = (explained: Explained): readonly (NodeExplanation & { verdict: 'open' })[] =>
  explained
    .filter((one) => one.verdict === 'open')
    .sort((left, right) => right.score - left.score || (left.nodeId < right.nodeId ? -1 : 1));
