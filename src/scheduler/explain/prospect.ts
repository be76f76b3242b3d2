/**
 * Explains what the scheduler would decide now about a job's groups, node by node. It makes the decision and
 * discards the plan. Source: docs/behaviour/scheduling.md#explanations.
 *
 *  1. If a request fails, the nodes are explained as at the first failure, after the placements and
 *     evictions before it.
 *  2. If no request fails, they are explained for a further allocation of the group.
 *  3. For a system job each node is explained for its own request.
 */
import type { Steps } from '../../base/steps.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed, runsEverywhere } from '../../model/job/job-rules.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { Moment } from '../placing/place-group.ts';
import type { ClusterView } from '../view.ts';
import { explainCandidates, explainNode, explainSteps, type NodeExplanation } from './nodes.ts';
import { type Decision, decideAgain, momentOf } from './placement.ts';

export interface GroupProspect {
  readonly group: TaskGroup;
  /** The number of requests that would be placed now. */
  readonly placed: number;
  /** The number of requests that would fail. */
  readonly unplaced: number;
  readonly nodes: readonly NodeExplanation[];
}

/** Explanations of requests for single nodes, by group name and node id. */
type Asked = Map<string, Map<string, NodeExplanation>>;

/**
 * The prospects of the picked groups; `failing` names the groups with failed requests. The evaluation
 * of the decision has to be the job's.
 */
export function* prospects(
  decision: Decision,
  job: Job,
  pick: (failing: readonly string[]) => readonly string[] = (failing) => failing,
): Steps<readonly GroupProspect[]> {
  const asked: Asked = new Map();
  const note = (moment: Moment) => noteAsked(asked, moment);
  const result = yield* decideAgain(decision, { chosen: note, failed: note });
  const found: GroupProspect[] = [];
  for (const name of pick(Object.keys(result.plan.failures))) {
    const group = groupNamed(job, name)!;
    const placed = result.plan.placements.filter((one) => one.TaskGroup === name).length;
    const unplaced = result.plan.queued[name] ?? 0;
    const nodes = runsEverywhere(job)
      ? yield* onEveryNode(decision.view, job, group, asked.get(name) ?? new Map())
      : yield* asFailed(decision, job, group, unplaced);
    found.push({ group, placed, unplaced, nodes });
  }
  return found;
}

function noteAsked(asked: Asked, { candidates, request, penalized, search }: Moment): void {
  const { nodeId } = request;
  const slot = nodeId === undefined ? -1 : candidates.slotOf(nodeId);
  if (slot < 0) return;
  const ofGroup = asked.get(candidates.group.Name) ?? new Map<string, NodeExplanation>();
  asked.set(candidates.group.Name, ofGroup);
  ofGroup.set(nodeId!, explainNode(candidates, slot, penalized, search));
}

function* asFailed(
  decision: Decision,
  job: Job,
  group: TaskGroup,
  unplaced: number,
): Steps<readonly NodeExplanation[]> {
  if (unplaced > 0) {
    const failed = ({ candidates }: Moment) => candidates.group.Name === group.Name;
    const moment = yield* momentOf(decision, { failed });
    if (moment !== undefined) {
      return yield* explainCandidates(moment.candidates, moment.penalized, moment.search);
    }
  }
  return yield* explainSteps(decision.view, job, group);
}

function* onEveryNode(
  view: ClusterView,
  job: Job,
  group: TaskGroup,
  asked: ReadonlyMap<string, NodeExplanation>,
): Steps<readonly NodeExplanation[]> {
  const there = new Map<string, string>();
  for (const one of view.allocationsOfJob(job.Namespace, job.ID)) {
    if (one.TaskGroup !== group.Name || one.JobCreateIndex !== job.CreateIndex) continue;
    if (!isTerminal(one)) there.set(one.NodeID, `${one.Name} is on the node already`);
    else if (!there.has(one.NodeID)) there.set(one.NodeID, `${one.Name} was placed there before`);
  }
  const nodes = yield* explainSteps(view, job, group);
  return nodes.map((one): NodeExplanation => {
    if (one.verdict === 'excluded' || one.verdict === 'filtered') return one;
    const { nodeId, nodeName, nodeClass, nodePool, datacenter } = one;
    const text = there.get(nodeId) ?? 'nothing of the group is wanted there now';
    const unasked = { verdict: 'unasked', text } as const;
    return asked.get(nodeId) ?? { nodeId, nodeName, nodeClass, nodePool, datacenter, ...unasked };
  });
}
