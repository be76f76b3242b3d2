/** Explains why an allocation is on its node. */
import { assert } from '../../base/assert.ts';
import type { Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { AllocationExplanation } from '../../model/explanation/explanation.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed, runsEverywhere } from '../../model/job/job-rules.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import {
  byPreemption,
  byScore,
  explainSteps,
  type NodeExplanation,
} from '../../scheduler/explain/nodes.ts';
import { explainPlacement, type Manner } from '../../scheduler/explain/placement.ts';
import type { ClusterView } from '../../scheduler/view.ts';
import type { FoundPlacement } from '../scheduling/evaluations/decisions.ts';
import { type Asking, presentNodes } from './present.ts';

const notes: Readonly<Record<AllocationExplanation['Basis'], string>> = {
  decision: '',
  now: 'The state of the decision is not kept any more: only the newest decisions keep their state, until too much has changed or the server restarts. So the nodes are judged as they are now, without the allocation; "Recorded" has the notes of the decision.',
  none: 'The version of the job that the allocation runs is not kept any more, so the nodes cannot be judged. "Recorded" has the notes of the decision.',
};

/** The ranking of nodes, and the state that it is based on. */
interface Found {
  readonly basis: AllocationExplanation['Basis'];
  readonly view: ClusterView;
  readonly manner: Manner;
  readonly nodes: readonly NodeExplanation[];
}

/** `kept` is the decision that placed the allocation, if it is still known. */
export function* explainAllocation(
  asking: Asking,
  allocation: Allocation,
  kept: FoundPlacement | undefined,
): Steps<AllocationExplanation> {
  const found =
    kept === undefined
      ? yield* judgeNow(asking.view, allocation)
      : yield* judgeThen(kept, allocation);
  yield;
  const explanation = present(asking, allocation, found);
  // The decision was made in steps; the presentation is a step of its own.
  yield;
  return explanation;
}

function* judgeThen({ decision, position }: FoundPlacement, { NodeID }: Allocation): Steps<Found> {
  const found = yield* explainPlacement(decision, position);
  assert(found?.chosenId === NodeID, 'a decision that is made again comes out the same');
  return { basis: 'decision', view: decision.view, manner: found.manner, nodes: found.nodes };
}

function* judgeNow(view: ClusterView, allocation: Allocation): Steps<Found> {
  const wanted = wantedBy(view, allocation);
  if (wanted === undefined) return { basis: 'none', view, manner: 'best', nodes: [] };
  const { job, group } = wanted;
  const others = without(view, allocation);
  const nodes = yield* explainSteps(others, job, group, penalizedFor(allocation));
  return { basis: 'now', view, manner: mannerNow(view, job, group, allocation), nodes };
}

/** The version that the allocation runs; if it is no longer kept, the current job. */
function wantedBy(
  view: ClusterView,
  { Namespace, JobID, JobVersion, JobCreateIndex, TaskGroup: name }: Allocation,
): { readonly job: Job; readonly group: TaskGroup } | undefined {
  for (const job of [view.jobVersion(Namespace, JobID, JobVersion), view.job(Namespace, JobID)]) {
    const group = job?.CreateIndex === JobCreateIndex ? groupNamed(job, name) : undefined;
    if (job !== undefined && group !== undefined) return { job, group };
  }
  return undefined;
}

const without = (view: ClusterView, { ID }: Allocation): ClusterView => {
  const others = function* (rows: Iterable<Allocation>) {
    for (const row of rows) if (row.ID !== ID) yield row;
  };
  return {
    ...view,
    allocationsOfJob: (namespace, job) => others(view.allocationsOfJob(namespace, job)),
    allocationsOnNode: (nodeId) => others(view.allocationsOnNode(nodeId)),
  };
};

/**
 * The nodes on which predecessors failed. After a migration the record stays, and no node is
 * avoided.
 */
function penalizedFor({
  PreviousAllocation,
  RescheduleTracker,
}: Allocation): ReadonlySet<string> | undefined {
  const events = RescheduleTracker?.Events ?? [];
  if (events.at(-1)?.PrevAllocID !== PreviousAllocation) return undefined;
  return new Set(events.map(({ PrevNodeID }) => PrevNodeID));
}

function mannerNow(
  view: ClusterView,
  job: Job,
  { EphemeralDisk }: TaskGroup,
  { PreviousAllocation, NodeID }: Allocation,
): Manner {
  if (runsEverywhere({ ...job, Stop: false })) return 'own-node';
  if (PreviousAllocation === '' || !(EphemeralDisk.Sticky || EphemeralDisk.Migrate)) return 'best';
  for (const { ID } of view.allocationsOnNode(NodeID)) {
    if (ID === PreviousAllocation) return 'previous-node';
  }
  return 'best';
}

type Ranked = Pick<NodeExplanation, 'nodeId' | 'nodeName'> & { readonly score: number };

const rankedEvictions = (nodes: readonly NodeExplanation[]): readonly Ranked[] =>
  byPreemption(nodes).map(({ nodeId, nodeName, preemption: { score } }) => {
    return { nodeId, nodeName, score };
  });

function present(
  asking: Asking,
  allocation: Allocation,
  { basis, view, manner, nodes }: Found,
): AllocationExplanation {
  const { NodeID, NodeName, PreemptedAllocations } = allocation;
  const Evicted = PreemptedAllocations ?? [];
  const Manner = Evicted.length > 0 ? 'preemption' : manner;
  // On the current state, the evicted allocations have gone already.
  const wasFull = Evicted.length > 0 && basis === 'decision';
  const ranked: readonly Ranked[] = wasFull ? rankedEvictions(nodes) : byScore(nodes);
  const own = ranked.find(({ nodeId }) => nodeId === NodeID);
  const isCompared = manner === 'best' && (Evicted.length === 0 || wasFull);
  const rival = isCompared ? ranked.find(({ nodeId }) => nodeId !== NodeID) : undefined;
  return {
    AllocID: allocation.ID,
    Name: allocation.Name,
    Namespace: allocation.Namespace,
    JobID: allocation.JobID,
    JobVersion: allocation.JobVersion,
    TaskGroup: allocation.TaskGroup,
    EvalID: allocation.EvalID,
    NodeID,
    NodeName,
    Basis: basis,
    Note: notes[basis],
    SnapshotIndex: view.index,
    Algorithm: view.configuration.algorithm,
    Manner,
    NormScore: own?.score ?? null,
    RunnerUp:
      rival === undefined
        ? null
        : {
            // The metrics name the best nodes with ids and scores, and every reader of the job may
            // read them.
            NodeID: rival.nodeId,
            NodeName: asking.mayRead(rival.nodeName) ? rival.nodeName : '',
            NormScore: rival.score,
          },
    Margin: own === undefined || rival === undefined ? null : own.score - rival.score,
    Evicted,
    ...presentNodes(nodes, asking, NodeID),
    Recorded: allocation.Metrics,
  };
}
