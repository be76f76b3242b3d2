/**
 * Why the scheduler chose a node, or finds none: the API's words on single nodes, beyond the metrics of the
 * contract. Source: docs/behaviour/scheduling.md#explanations, #scores.
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
 * `open`: could take it, and has a score. `exhausted`: lacks room. `filtered`: fails a rule.
 * `unasked`: the job wants nothing more there. `excluded`: takes no new work, or is not of the job's
 * pool and datacenters.
 */
export const verdicts = ['open', 'exhausted', 'filtered', 'unasked', 'excluded'] as const;
export type Verdict = (typeof verdicts)[number];

/** CPU in MHz, memory and disk in MB, cores by number. */
export const LackSchema = Type.Object({
  /** `cpu`, `memory`, `disk`, `cores`, or a text as in `DimensionExhausted`. */
  Dimension: Text(),
  /** Null where numbers do not tell. */
  Asked: Nullable(Type.Number()),
  /** Free resources, with those that the allocation would take over from the one that it replaces. */
  Free: Nullable(Type.Number()),
  /** All that the node has for allocations. */
  Total: Nullable(Type.Number()),
});
export type Lack = Model<typeof LackSchema>;

/** The score of a node if allocations of lower priority made way there. */
const PreemptionProspectSchema = Type.Object({
  /** How many would have to. */
  Evicts: Whole(),
  /** The mean of `Scores`. */
  NormScore: Type.Number({ default: 0 }),
  /** The score part by part, `preemption` among them. */
  Scores: FullMapOf(Type.Number()),
});

export const NodeVerdictSchema = Type.Object({
  NodeID: Text(),
  NodeName: Text(),
  NodeClass: Text(),
  NodePool: Text(),
  Datacenter: Text(),
  Verdict: Choice(verdicts, 'open'),
  /** The first rule that the node fails: its name and its text, as `ConstraintFiltered` has it. */
  Rule: Text(),
  Reason: Text(),
  Lacks: FullList(LackSchema),
  /** The mean of `Scores`; null unless the node is open. */
  NormScore: Nullable(Type.Number()),
  /** The score part by part. */
  Scores: FullMapOf(Type.Number()),
  /** Null unless the node is exhausted and others could make way there. */
  Preemption: Nullable(PreemptionProspectSchema),
});
export type NodeVerdict = Model<typeof NodeVerdictSchema>;

/** Over all nodes, also over those that are not shown. */
export const VerdictCountsSchema = Type.Object({
  open: Whole(),
  exhausted: Whole(),
  filtered: Whole(),
  unasked: Whole(),
  excluded: Whole(),
});
export type VerdictCounts = Model<typeof VerdictCountsSchema>;

/**
 * `decision`: on the state that the decision was made on. `now`: on the newest state, as if the
 * allocation were not there. `none`: the job or its group is gone, and only `Recorded` is left.
 */
export const bases = ['decision', 'now', 'none'] as const;

/**
 * `best`: by its score. `previous-node`: the disk of the allocation that it replaces is there.
 * `own-node`: the job wants something on every node, and each is decided on its own. `preemption`:
 * no node was open, and others of lower priority had to make way on this one.
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
  /** The meaning of the basis for the explanation; empty for `decision`. */
  Note: Text(),
  /** Of the state that the nodes are told of. */
  SnapshotIndex: Whole(),
  Algorithm: Choice(['binpack', 'spread'], 'binpack'),
  Manner: Choice(manners, 'best'),
  /** Of the allocation's own node; null when that is not open, and others did not make way there. */
  NormScore: Nullable(Type.Number()),
  /** The best of the other nodes. Null: there is none, or the node was not chosen by its score. */
  RunnerUp: Nullable(
    Type.Object({
      NodeID: Text(),
      /** Empty where the caller may not read the node. */
      NodeName: Text(),
      NormScore: Type.Number({ default: 0 }),
    }),
  ),
  /** By how much the node is better than the runner-up. */
  Margin: Nullable(Type.Number()),
  /** Ids of allocations that had to make way. */
  Evicted: FullList(Type.String()),
  Counts: VerdictCountsSchema,
  /** The best first; only those that the caller may read, and the allocation's own. */
  Nodes: FullList(NodeVerdictSchema),
  /** Nodes that the caller may not read. */
  NodesHidden: Whole(),
  /** The allocation's `Metrics`: of the first placement of its group by its evaluation. */
  Recorded: Nullable(PlacementMetricsSchema),
});
export interface AllocationExplanation extends Model<typeof AllocationExplanationSchema> {}

export const GroupProspectSchema = Type.Object({
  TaskGroup: Text(),
  /** How many there are to be. */
  Count: Whole(),
  /** How many wait for a node by the job's summary. */
  Queued: Whole(),
  /** How many would get a node if the scheduler looked at the job now, and how many would not. */
  Placeable: Whole(),
  Unplaceable: Whole(),
  /** The wanted allocations, their outcome, and the reason. */
  Summary: Text(),
  /** Why the next one of the group would find no node; empty where it would. */
  Reason: Text(),
  Counts: VerdictCountsSchema,
  /** As the first that finds no node finds them; where there is none, as one more would. */
  Nodes: FullList(NodeVerdictSchema),
  NodesHidden: Whole(),
  /** The metrics of the newest evaluation that could not place all of the group. */
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
  /** Why nothing of the job is ever placed as it is; else empty. */
  Note: Text(),
  Groups: FullList(GroupProspectSchema),
  /** Evaluations of the job that are not over: the blocked one tells what is waited for. */
  Evaluations: FullList(
    Type.Object({
      ID: Text(),
      Status: Choice(evaluationStatuses, 'pending'),
      TriggeredBy: Choice(evaluationTriggers, 'job-register'),
      StatusDescription: Text(),
      /** Of one that waits for room on one node. */
      NodeID: Text(),
      /** Not before this instant. */
      WaitUntil: Instant(),
      CreateTime: Instant(),
    }),
  ),
});
export interface JobProspect extends Model<typeof JobProspectSchema> {}
