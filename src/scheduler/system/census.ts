/**
 * Lists a system job's allocations by node, and decides the fate of each.
 * Source: docs/behaviour/scheduling.md#system-and-sysbatch-jobs.
 */
import { each, grouped, mapped, type Steps, sorted } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { isTerminalDeployment } from '../../model/deployment/deployment.ts';
import { isReadyNode } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { GroupContext } from '../decision.ts';
import { firstFailed, type Rule } from '../fitting/feasibility.ts';
import { type Classified, classify, counts, isCurrent } from '../reconcile/classify.ts';

/**
 * `kept`: runs the current version, or its node is away; `compatible`: may be updated in place;
 * `outdated`: has to be replaced; `leaving`: its node takes no work; `returning`: has to be replaced
 * on its node; `forced`: failed, and an operator asked for another attempt; `unwanted`: the job does
 * not want the node, or has another allocation there.
 */
export type Fate =
  | 'kept'
  | 'compatible'
  | 'outdated'
  | 'leaving'
  | 'returning'
  | 'forced'
  | 'unwanted';

export interface Census {
  /** All allocations of the group. */
  readonly classified: readonly Classified[];
  /** The present allocations by fate, each list ascending by node. */
  readonly fates: ReadonlyMap<Fate, readonly Classified[]>;
  /** By node id, the ended or evicted allocation that a new one succeeds. */
  readonly ended: ReadonlyMap<string, Allocation>;
  /** Ids of nodes that need no new allocation. */
  readonly occupied: ReadonlySet<string>;
}

export function* census(
  group: TaskGroup,
  members: readonly Allocation[],
  rules: readonly Rule[],
  context: GroupContext,
): Steps<Census> {
  const { deployment } = context;
  const isActive = deployment !== undefined && !isTerminalDeployment(deployment);
  const activeDeploymentId = isActive ? deployment.ID : '';
  const classifyContext = { ...context, group, activeDeploymentId };
  const classified = yield* mapped(yield* sorted(members, byNode), (allocation) => ({
    allocation,
    standing: classify(allocation, classifyContext),
  }));
  const fates = new Map<Fate, Classified[]>();
  const ended = new Map<string, Allocation>();
  const occupied = new Set<string>();
  const decide = (fate: Fate, one: Classified) => {
    const list = fates.get(fate);
    if (list === undefined) fates.set(fate, [one]);
    else list.push(one);
  };
  const byNodeId = yield* grouped(classified, (one) => one.allocation.NodeID);
  yield* each(byNodeId, ([nodeId, here]) => {
    const present: Classified[] = [];
    for (const one of here) {
      if (wasEvicted(one.allocation, context)) ended.set(nodeId, one.allocation);
      if (!isPresent(one)) continue;
      if (isRetried(one, activeDeploymentId, context)) ended.set(nodeId, one.allocation);
      else present.push(one);
    }
    const best = bestOf(present, context);
    for (const one of present) {
      if (one === best) decide(fateOf(one, group, rules, context), one);
      else if (!isClientTerminal(one.allocation)) decide('unwanted', one);
    }
    if (best !== undefined) occupied.add(nodeId);
  });
  return { classified, fates, ended, occupied };
}

const byNode = (left: Allocation, right: Allocation): number =>
  left.NodeID < right.NodeID
    ? -1
    : left.NodeID > right.NodeID
      ? 1
      : left.CreateIndex - right.CreateIndex || (left.ID < right.ID ? -1 : 1);

/** Whether the allocation was evicted and has to run on its node again. */
const wasEvicted = (
  { DesiredStatus, NextAllocation, JobCreateIndex }: Allocation,
  { job }: GroupContext,
): boolean =>
  DesiredStatus === 'evict' && NextAllocation === '' && JobCreateIndex === job.CreateIndex;

/** Whether the allocation runs or may run on its node, or is the last one that ended there. */
const isPresent = ({ allocation, standing }: Classified): boolean =>
  counts(standing) || standing.kind === 'unknown'
    ? !isClientTerminal(allocation) || allocation.NextAllocation === ''
    : standing.kind === 'ended';

/**
 * Whether an ended allocation of a system job is run again on its node: a completed one always, as
 * tasks of system jobs do not complete by themselves. A failed allocation is left alone while its
 * deployment runs, and by the evaluation that reports the failure: the restart policy decides about
 * restarts at once.
 */
function isRetried(
  { allocation, standing: { kind } }: Classified,
  activeDeploymentId: string,
  { job, triggeredBy }: GroupContext,
): boolean {
  const isOver = isClientTerminal(allocation) && (kind === 'ended' || kind === 'settled');
  if (job.Type !== 'system' || !isOver) return false;
  if (allocation.ClientStatus === 'complete') return true;
  if (allocation.DeploymentID !== '' && allocation.DeploymentID === activeDeploymentId)
    return false;
  return triggeredBy !== 'alloc-failure';
}

/** Prefers running allocations, then the current version, then kept allocations, then the oldest. */
function bestOf(present: readonly Classified[], { job }: GroupContext): Classified | undefined {
  const worth = ({ allocation, standing }: Classified): number =>
    (isClientTerminal(allocation) ? 0 : 4) +
    (isCurrent(allocation, job) ? 2 : 0) +
    (standing.kind === 'kept' ? 1 : 0);
  let best: Classified | undefined;
  for (const one of present) if (best === undefined || worth(one) > worth(best)) best = one;
  return best;
}

function fateOf(
  { allocation, standing }: Classified,
  group: TaskGroup,
  rules: readonly Rule[],
  { job, nodeOf, versions }: GroupContext,
): Fate {
  if (isClientTerminal(allocation)) return standing.kind === 'reschedule-now' ? 'forced' : 'kept';
  if (group.Count === 0) return 'unwanted';
  const node = nodeOf(allocation.NodeID);
  if (standing.kind === 'unknown' || node === undefined) return 'kept';
  const isReady = isReadyNode(node);
  if (standing.kind === 'migrating') return isReady ? 'returning' : 'leaving';
  // An allocation of the current version is not checked against its rules again, only pool and datacenter.
  const isOld = !isCurrent(allocation, job);
  const asked = (scope: Rule['scope']) => (isOld ? scope !== 'readiness' : scope === 'candidate');
  if (firstFailed(rules, node, asked) !== undefined) return 'unwanted';
  if (!isOld) return 'kept';
  if (!versions.isOutdated(allocation)) return 'compatible';
  return isReady ? 'outdated' : 'kept';
}
