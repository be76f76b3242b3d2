/**
 * Reconciles system and sysbatch jobs, which run one allocation of each group on every feasible node.
 * Source: docs/behaviour/scheduling.md#system-and-sysbatch-jobs.
 *
 *  1. A node never has two allocations of a group that count.
 *  2. Only ready and eligible nodes that pass the rules get an allocation; an allocation of the current
 *     version stays as long as its node is in the job's pool and datacenters.
 *  3. A sysbatch version runs on a node only once, whether it completes or fails there.
 */
import { mapped, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { allocationName } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import {
  type GroupContext,
  type GroupDecision,
  noUpdates,
  type PlacementRequest,
  type ReconcileContext,
  type Reconciliation,
} from '../decision.ts';
import type { Session } from '../memory/memory.ts';
import { feasible, type Sheet } from '../memory/sheet.ts';
import { type AwayDecision, decideAway } from '../reconcile/away.ts';
import { canaryKind } from '../reconcile/canary.ts';
import { type Classified, isCurrent } from '../reconcile/classify.ts';
import { beginReconciliation } from '../reconcile/reconcile.ts';
import { byVersion, type Orders, versionKept } from '../reconcile/requests.ts';
import {
  batchSize,
  type GroupRollout,
  groupRollout,
  isAllHealthy,
  isMoving,
} from '../reconcile/rollout.ts';
import { backMark, stopOf } from '../reconcile/stops.ts';
import { isMarkedUnknown } from '../reschedule.ts';
import { descriptions } from '../view.ts';
import { type Census, census, type Fate } from './census.ts';
import { filteredEverywhere } from './outcome.ts';

export function* reconcileEverywhere(
  context: ReconcileContext,
  session: Session,
): Steps<Reconciliation> {
  const { groups, groupContext, conclude } = yield* beginReconciliation(context);
  const decisions: GroupDecision[] = [];
  for (const [group, members] of groups) {
    yield;
    decisions.push(yield* decideGroup(group, members, groupContext!, session));
  }
  return conclude(decisions);
}

/** Facts about a group, before the decision. */
interface Findings {
  readonly group: TaskGroup;
  readonly context: GroupContext;
  readonly away: AwayDecision;
  readonly rollout: GroupRollout;
  readonly ended: Census['ended'];
  readonly of: (fate: Fate) => readonly Allocation[];
  /** Allocations that continue. */
  readonly staying: readonly Classified[];
  /** Ids of nodes that lack an allocation. */
  readonly free: readonly string[];
}

function* decideGroup(
  group: TaskGroup,
  members: readonly Allocation[],
  context: GroupContext,
  session: Session,
): Steps<GroupDecision> {
  const { job } = context;
  const sheet = yield* session.sheet(job, group);
  const found = yield* findingsOf(group, members, context, sheet);
  const { of, rollout, staying, away } = found;
  const inPlace = rollout.stage === 'halted' ? [] : of('compatible');
  const chosen = yield* chooseUpdates(found);
  const orders = yield* ordersFor(found, chosen, session);
  const marked = staying.map((one) => one.allocation).filter(isMarkedUnknown);
  const back = marked.filter((one) => one.ClientStatus !== 'unknown');
  const isBusy = of('outdated').length + of('compatible').length + of('returning').length > 0;
  const isNowhere = staying.length + found.free.length === 0;
  return {
    job,
    group,
    inPlace,
    ...orders,
    stops: [
      ...away.stops,
      ...of('unwanted').map((one) => stopOf(one, descriptions.notNeeded)),
      ...of('leaving').map((one) => stopOf(one, descriptions.tainted)),
      ...of('returning').map((one) => stopOf(one, descriptions.migrating)),
      ...back.map(backMark),
    ],
    deploymentId: rollout.deploymentId,
    replacedAway: [],
    postponed: away.postponed,
    entry: rollout.entry,
    isSettled:
      !isBusy &&
      (yield* isAllHealthy(
        staying.map((one) => one.allocation),
        rollout,
      )),
    ...(isNowhere && group.Count > 0 && { failure: filteredEverywhere(job, sheet) }),
    updates: {
      ...noUpdates,
      Ignore: staying.length - inPlace.length - chosen.all.length - back.length,
      Place: orders.placed - chosen.all.length - of('returning').length,
      Canary: chosen.canaries.length,
      DestructiveUpdate: chosen.regular.length,
      InPlaceUpdate: inPlace.length,
      Migrate: of('leaving').length + of('returning').length,
      Stop: of('unwanted').length,
      Disconnect: away.disconnected,
      Reconnect: back.length,
    },
  };
}

function* findingsOf(
  group: TaskGroup,
  members: readonly Allocation[],
  context: GroupContext,
  sheet: Sheet,
): Steps<Findings> {
  const { job, versions } = context;
  const { rules } = sheet.shape;
  const { classified, fates, ended, occupied } = yield* census(group, members, rules, context);
  yield;
  const of = (fate: Fate) => (fates.get(fate) ?? []).map(({ allocation }) => allocation);
  const free = group.Count === 0 ? [] : feasibleNodes(sheet).filter((id) => !occupied.has(id));
  const destructive = of('outdated').length;
  const changing = of('compatible');
  const { Canary = 0, MaxParallel = 0 } = group.Update ?? {};
  const canaries = Math.min(Math.ceil((Canary * destructive) / 100), MaxParallel);
  const work = {
    destructive,
    inPlace: changing.length,
    placements: free.length + of('returning').length + of('forced').length,
    isChange: destructive > 0 || !changing.every(versions.isScaledDown),
    hasCurrent: members.some((one) => isCurrent(one, job)),
    canaries,
  };
  const goOn: readonly Fate[] = ['kept', 'compatible', 'outdated', 'forced'];
  return {
    group,
    context,
    ended,
    of,
    free,
    away: yield* decideAway(classified, group, context),
    rollout: groupRollout(group, work, context),
    staying: goOn.flatMap((fate) => fates.get(fate) ?? []),
  };
}

const feasibleNodes = ({ fleet, failed }: Sheet): readonly string[] =>
  fleet.nodes.filter((_, slot) => failed[slot] === feasible).map(({ ID }) => ID);

interface Chosen {
  readonly canaries: readonly Allocation[];
  readonly regular: readonly Allocation[];
  readonly all: readonly Allocation[];
}

/** Chooses the next allocations to update, each replaced on its node. */
function* chooseUpdates({ group, context, rollout, staying, of }: Findings): Steps<Chosen> {
  const outdated = of('outdated');
  const members = staying.map(({ allocation }) => allocation);
  const started = of('returning').length + of('forced').length + of('compatible').length;
  const size = yield* batchSize(group, rollout, members, started);
  const regular = outdated.slice(0, size);
  const there = members.filter((one) => canaryKind(one, group, context) === 'canary').length;
  const missing = rollout.stage === 'canaries' ? Math.max(rollout.canaries - there, 0) : 0;
  const canaries = outdated.slice(0, missing);
  return { canaries, regular, all: [...canaries, ...regular] };
}

/** The placements, each with its node, and their number. */
function* ordersFor(
  { group, context, rollout, ended, free, of }: Findings,
  chosen: Chosen,
  session: Session,
): Steps<Orders & { readonly placed: number }> {
  const { job, versions } = context;
  const { deploymentId } = rollout;
  // A system allocation's name is made from the job's name, not its id. Source:
  // docs/behaviour/allocations.md#names.
  const name = allocationName(job.Name, group.Name, 0);
  const shared = { name, deploymentId, delayNs: 0 };
  const replace =
    (kind: PlacementRequest['kind'], stop?: string, isCanary = false) =>
    (previous: Allocation): PlacementRequest => ({
      ...shared,
      kind,
      previous,
      nodeId: previous.NodeID,
      isCanary,
      stop: stop === undefined ? undefined : stopOf(previous, stop),
    });
  const updating = descriptions.updating;
  const fresh = yield* mapped(free, (nodeId): PlacementRequest => {
    const previous = ended.get(nodeId);
    const kind = previous === undefined ? 'new' : 'lost';
    return { ...shared, kind, previous, nodeId, isCanary: false, stop: undefined };
  });
  const requests = [
    ...chosen.canaries.map(replace('update', updating, true)),
    ...of('forced').map(replace('reschedule', descriptions.rescheduled)),
    ...fresh,
    ...chosen.regular.map(replace('update', updating)),
    ...of('returning').map(replace('migrate')),
  ];
  const fallback = isMoving(rollout.stage)
    ? undefined
    : newestEarlier(of('outdated'), versions.versionOf);
  const isHeldBack = ({ previous }: PlacementRequest) =>
    previous === undefined && !isMoving(rollout.stage) && fallback === undefined;
  const wanted = requests.filter((one) => !isHeldBack(one));
  const { placements, earlier } = yield* byVersion({ group }, wanted, ({ previous, isCanary }) => {
    if (isCanary) return undefined;
    return previous === undefined ? fallback : versionKept({ job, rollout, versions }, previous);
  });
  const orders = [];
  for (const order of earlier) {
    const sheet = yield* session.sheet(order.job, order.group);
    const nodes = new Set(feasibleNodes(sheet));
    orders.push({ ...order, placements: order.placements.filter((one) => nodes.has(one.nodeId!)) });
  }
  const placed = orders.reduce((sum, order) => sum + order.placements.length, placements.length);
  return { placements, earlier: orders, placed };
}

/** The version for new nodes while the current version must not be placed yet. */
function newestEarlier(
  outdated: readonly Allocation[],
  versionOf: (allocation: Allocation) => Job | undefined,
): Job | undefined {
  let newest: Job | undefined;
  for (const allocation of outdated) {
    const version = versionOf(allocation);
    if (version !== undefined && version.Version > (newest?.Version ?? -1)) newest = version;
  }
  return newest;
}
