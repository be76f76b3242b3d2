/**
 * What would become of a job's groups if the scheduler looked at the job now, and what each node has
 * to do with it: the very decision is made, and thrown away.
 * Source: docs/behaviour/scheduling.md#explanations.
 *
 * 1. Where something finds no node, the nodes are told as the first that fails finds them: what
 *    makes way for it counts as free, and what is placed before it as taken.
 * 2. Where nothing fails they are told as one more allocation of the group would find them.
 * 3. Where a job wants something on every node, each is told as its own allocation finds it.
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
  /** How many would get a node now. */
  readonly placed: number;
  /** How many would find none. */
  readonly unplaced: number;
  readonly nodes: readonly NodeExplanation[];
}

/** What was asked of single nodes, by group and node. */
type Asked = Map<string, Map<string, NodeExplanation>>;

/**
 * Of the groups that are picked; `failing` are those that would not get all that they are to have.
 * The decision's evaluation is of the job, and the job has the groups.
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
    if (!isTerminal(one)) there.set(one.NodeID, `${one.Name} is there already`);
    else if (!there.has(one.NodeID)) there.set(one.NodeID, `${one.Name} was there already`);
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
