/** Explains why groups of a job are not placed. */
import type { Steps } from '../../base/steps.ts';
import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';
import { type Evaluation, isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import type { GroupProspect, JobProspect } from '../../model/explanation/explanation.ts';
import type { Job } from '../../model/job/job.ts';
import { isParameterized, isPeriodic } from '../../model/job/job-rules.ts';
import { byPreemption, byScore, type NodeExplanation } from '../../scheduler/explain/nodes.ts';
import type { Decision } from '../../scheduler/explain/placement.ts';
import { type GroupProspect as Found, prospects } from '../../scheduler/explain/prospect.ts';
import { whyNoNode } from '../../scheduler/explain/words.ts';
import { newEvaluation } from '../scheduling/create-evaluation.ts';
import { type Asking, presentNodes } from './present.ts';

export interface JobAsking extends Asking {
  readonly job: Job;
  readonly nowMs: number;
  /** All evaluations of the job. */
  readonly evaluations: readonly Evaluation[];
  /** How many allocations of each group wait for a node, by the job's summary. */
  readonly queued: ReadonlyMap<string, number>;
  /** `undefined`: every group that lacks allocations. */
  readonly group: string | undefined;
  /** The id of a node that the caller asks about. */
  readonly nodeId: string | undefined;
}

export function* explainJob(asking: JobAsking): Steps<JobProspect> {
  const { view, job, nowMs, evaluations, group } = asking;
  const decision: Decision = { view, evaluation: unwritten(job, nowMs), nowMs, attempt: 1 };
  const found = yield* prospects(decision, job, (failing) =>
    group === undefined ? lacking(asking, failing) : [group],
  );
  const Groups: GroupProspect[] = [];
  for (const one of found) {
    Groups.push(presentGroup(asking, one));
    yield;
  }
  const { ID, Namespace, Version, Type, Status, Stop } = job;
  return {
    JobID: ID,
    Namespace,
    Version,
    Type,
    Status,
    Stop,
    SnapshotIndex: view.index,
    Note: noteOf(job),
    Groups,
    Evaluations: evaluations.filter((one) => !isTerminalEvaluation(one)).map(presentEvaluation),
  };
}

/**
 * Groups that lack allocations, in the order of the job. A job that places nothing lacks nothing.
 */
function lacking({ job, queued }: JobAsking, failing: readonly string[]): readonly string[] {
  if (noteOf(job) !== '') return [];
  return job.TaskGroups.map(({ Name }) => Name).filter(
    (name) => failing.includes(name) || (queued.get(name) ?? 0) > 0,
  );
}

/** An evaluation as it would be if room had been made. */
const unwritten = (job: Job, nowMs: number): Evaluation => {
  const world = { clock: { nowMs: () => nowMs, monotonicMs: () => 0 }, ids: { uuid: () => '' } };
  const made = newEvaluation(world, { job, triggeredBy: 'queued-allocs' });
  return { ...made, CreateIndex: 0, ModifyIndex: 0 };
};

function noteOf(job: Job): string {
  if (job.Stop) return 'The job is stopped: nothing of it is placed.';
  if (isPeriodic(job)) return 'The job is periodic: only its launched jobs are placed.';
  return isParameterized(job)
    ? 'The job is parameterized: only its dispatched jobs are placed.'
    : '';
}

function presentGroup(asking: JobAsking, found: Found): GroupProspect {
  const { queued, evaluations, nodeId } = asking;
  const { group, placed, unplaced, nodes } = found;
  const { Name, Count } = group;
  const table = presentNodes(nodes, asking);
  const Reason = reasonOf(asking, found);
  const Nodes =
    nodeId === undefined ? table.Nodes : table.Nodes.filter(({ NodeID }) => NodeID === nodeId);
  return {
    TaskGroup: Name,
    Count,
    Queued: queued.get(Name) ?? 0,
    Placeable: placed,
    Unplaceable: unplaced,
    Summary: summaryOf(asking, found, Reason),
    Reason,
    ...table,
    Nodes,
    Recorded: recorded(evaluations, Name),
  };
}

const allocations = (count: number): string =>
  count === 1 ? '1 allocation' : `${count} allocations`;

type Naming = (node: NodeExplanation) => string | undefined;

const namingFor =
  ({ mayRead }: JobAsking): Naming =>
  ({ nodeName }) =>
    mayRead(nodeName) ? nodeName : undefined;

/** Open nodes do not count if allocations are left over: each of them has got one already. */
function reasonOf(asking: JobAsking, { unplaced, nodes }: Found): string {
  const others = unplaced === 0 ? nodes : nodes.filter(({ verdict }) => verdict !== 'open');
  return whyNoNode(others, namingFor(asking));
}

function summaryOf(asking: JobAsking, { group, placed, unplaced, nodes }: Found, reason: string) {
  const of = `of the group "${group.Name}"`;
  if (unplaced > 0) {
    return `${allocations(unplaced)} ${of} ${unplaced === 1 ? 'finds' : 'find'} no node. ${reason}`;
  }
  if (placed > 0) {
    const there = placed === 1 ? 'There is a node' : 'There are nodes';
    return `${there} for ${allocations(placed)} ${of} now: the scheduler has yet to look at it again.`;
  }
  const waits = `Nothing ${of} waits for a node.`;
  const note = noteOf(asking.job);
  if (note !== '') return `${waits} ${note}`;
  if (group.Count === 0) return `${waits} Its count is 0.`;
  const naming = namingFor(asking);
  const best = byScore(nodes)[0];
  if (best === undefined) return `${waits} ${oneMoreWhereAllIsFull(nodes, naming, reason)}`;
  const name = naming(best);
  return `${waits} ${name === undefined ? 'There is room for one more' : `One more would go to node ${name}`}.`;
}

function oneMoreWhereAllIsFull(
  nodes: readonly NodeExplanation[],
  naming: Naming,
  reason: string,
): string {
  const [best] = byPreemption(nodes);
  if (best === undefined) return `One more would find none: ${reason}`;
  const name = naming(best);
  const makes = `${allocations(best.preemption.victims.length)} of lower priority would make way`;
  return name === undefined
    ? `For one more ${makes}.`
    : `One more would go to node ${name}, where ${makes}.`;
}

/** The failure of the group in the newest evaluation that decided about it. */
function recorded(evaluations: readonly Evaluation[], group: string): PlacementMetrics | null {
  let newest: Evaluation | undefined;
  for (const one of evaluations) {
    if (!Object.hasOwn(one.QueuedAllocations, group)) continue;
    if (one.ModifyIndex >= (newest?.ModifyIndex ?? 0)) newest = one;
  }
  return newest?.FailedTGAllocs?.[group] ?? null;
}

const presentEvaluation = (one: Evaluation): JobProspect['Evaluations'][number] => ({
  ID: one.ID,
  Status: one.Status,
  TriggeredBy: one.TriggeredBy,
  StatusDescription: one.StatusDescription,
  NodeID: one.NodeID,
  WaitUntil: one.WaitUntil,
  CreateTime: one.CreateTime,
});
