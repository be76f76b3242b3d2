/**
 * The reasons why the scheduler chose a node, or finds none: verdicts on single nodes, beyond the metrics of
 * the contract. Source: docs/behaviour/scheduling.md#explanations, #scores.
 */
import { PlacementMetricsSchema } from '../allocation/placement-metrics.ts';
import { evaluationStatuses, evaluationTriggers } from '../evaluation/evaluation.ts';
import { jobTypes } from '../job/job.ts';
import {
  Choice,
  Flag,
  FullList,
  FullMapOf,
  Instant,
  type Model,
  Nullable,
  Text,
  Type,
  Whole,
} from '../schema.ts';

/**
 * `open`: the node could take the allocation, and has a score. `exhausted`: it lacks room. `filtered`: it
 * fails a rule. `unasked`: the job wants no more allocations there. `excluded`: it takes no new work, or is
 * not in the job's pool and datacenters.
 */
export const verdicts = ['open', 'exhausted', 'filtered', 'unasked', 'excluded'] as const;
export type Verdict = (typeof verdicts)[number];

/** The resource that a node lacks: CPU in MHz, memory and disk in MB, cores by number. */
export const LackSchema = Type.Object({
  /** `cpu`, `memory`, `disk`, `cores`, or a text as in `DimensionExhausted`. */
  Dimension: Text(),
  /** Null if the lack is not a number. */
  Asked: Nullable(Type.Number()),
  /** Free resources, with those of the allocation that the new allocation replaces. */
  Free: Nullable(Type.Number()),
  /** The node's resources for allocations. */
  Total: Nullable(Type.Number()),
});
export type Lack = Model<typeof LackSchema>;

/** The score of a node if allocations of lower priority were evicted there. */
const PreemptionProspectSchema = Type.Object({
  /** How many allocations would be evicted. */
  Evicts: Whole(),
  /** The mean of `Scores`. */
  NormScore: Type.Number({ default: 0 }),
  /** The parts of the score, `preemption` among them. */
  Scores: FullMapOf(Type.Number()),
});

export const NodeVerdictSchema = Type.Object({
  NodeID: Text(),
  NodeName: Text(),
  NodeClass: Text(),
  NodePool: Text(),
  Datacenter: Text(),
  Verdict: Choice(verdicts, 'open'),
  /** The first rule that the node fails: its name and its text, as in `ConstraintFiltered`. */
  Rule: Text(),
  Reason: Text(),
  Lacks: FullList(LackSchema),
  /** The mean of `Scores`; null unless the node is open. */
  NormScore: Nullable(Type.Number()),
  /** The parts of the score. */
  Scores: FullMapOf(Type.Number()),
  /** Null unless the node is exhausted and evictions could make room there. */
  Preemption: Nullable(PreemptionProspectSchema),
});
export type NodeVerdict = Model<typeof NodeVerdictSchema>;

/** The counts over all nodes, including those that are not shown. */
export const VerdictCountsSchema = Type.Object({
  open: Whole(),
  exhausted: Whole(),
  filtered: Whole(),
  unasked: Whole(),
  excluded: Whole(),
});
export type VerdictCounts = Model<typeof VerdictCountsSchema>;

/**
 * `decision`: the state of the decision. `now`: the newest state, as if the allocation did not exist. `none`:
 * the job or its group is gone, and only `Recorded` is left.
 */
export const bases = ['decision', 'now', 'none'] as const;

/**
 * `best`: by its score. `previous-node`: it has the disk of the allocation that is replaced. `own-node`: the
 * job runs on every node, and each node is decided on its own. `preemption`: no node was open, and
 * allocations of lower priority were evicted on this node.
 */
export const manners = ['best', 'previous-node', 'own-node', 'preemption'] as const;

export const AllocationExplanationSchema = Type.Object({
  AllocID: Text(),
  Name: Text(),
  Namespace: Text(),
  JobID: Text(),
  JobVersion: Whole(),
  TaskGroup: Text(),
  EvalID: Text(),
  NodeID: Text(),
  NodeName: Text(),
  Basis: Choice(bases, 'decision'),
  /** A sentence about the basis; empty for `decision`. */
  Note: Text(),
  /** The index of the state of the explained nodes. */
  SnapshotIndex: Whole(),
  Algorithm: Choice(['binpack', 'spread'], 'binpack'),
  Manner: Choice(manners, 'best'),
  /**
   * The score of the allocation's own node; null if that is not open, and no allocation was evicted there.
   */
  NormScore: Nullable(Type.Number()),
  /** The best other node; null if there is none, or if the node was not chosen by its score. */
  RunnerUp: Nullable(
    Type.Object({
      NodeID: Text(),
      /** Empty if the caller may not read the node. */
      NodeName: Text(),
      NormScore: Type.Number({ default: 0 }),
    }),
  ),
  /** The score of the node minus the score of the runner-up. */
  Margin: Nullable(Type.Number()),
  /** Ids of the evicted allocations. */
  Evicted: FullList(Type.String()),
  Counts: VerdictCountsSchema,
  /** The nodes that the caller may read, the best first, and the allocation's own. */
  Nodes: FullList(NodeVerdictSchema),
  /** Nodes that the caller may not read. */
  NodesHidden: Whole(),
  /** The allocation's `Metrics`: those of the first placement of its group in its evaluation. */
  Recorded: Nullable(PlacementMetricsSchema),
});
export interface AllocationExplanation extends Model<typeof AllocationExplanationSchema> {}

export const GroupProspectSchema = Type.Object({
  TaskGroup: Text(),
  /** The wanted number of allocations. */
  Count: Whole(),
  /** The number that waits for a node, by the job's summary. */
  Queued: Whole(),
  /** How many allocations would and would not get a node if the scheduler looked at the job now. */
  Placeable: Whole(),
  Unplaceable: Whole(),
  /** The wanted allocations, their outcome, and the reason. */
  Summary: Text(),
  /** The reason that the next allocation of the group would find no node; empty if it would find a node. */
  Reason: Text(),
  Counts: VerdictCountsSchema,
  /**
   * The nodes as the first unplaced allocation finds them; if all are placed, as an additional allocation
   * would.
   */
  Nodes: FullList(NodeVerdictSchema),
  NodesHidden: Whole(),
  /** The metrics of the newest evaluation that could not place the whole group. */
  Recorded: Nullable(PlacementMetricsSchema),
});
export type GroupProspect = Model<typeof GroupProspectSchema>;

export const JobProspectSchema = Type.Object({
  JobID: Text(),
  Namespace: Text(),
  Version: Whole(),
  Type: Choice(jobTypes, 'service'),
  Status: Text(),
  Stop: Flag(),
  SnapshotIndex: Whole(),
  /** The reason that no allocation of the job is ever placed as it is; else empty. */
  Note: Text(),
  Groups: FullList(GroupProspectSchema),
  /** Open evaluations of the job. A blocked evaluation tells what it waits for. */
  Evaluations: FullList(
    Type.Object({
      ID: Text(),
      Status: Choice(evaluationStatuses, 'pending'),
      TriggeredBy: Choice(evaluationTriggers, 'job-register'),
      StatusDescription: Text(),
      /** Set for an evaluation that waits for room on a certain node. */
      NodeID: Text(),
      /** The earliest time of the evaluation. */
      WaitUntil: Instant(),
      CreateTime: Instant(),
    }),
  ),
});
export interface JobProspect extends Model<typeof JobProspectSchema> {}
