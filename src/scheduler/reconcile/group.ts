/**
 * Decides about a group of a service or batch job.
 * Source: docs/behaviour/scheduling.md#reconciliation.
 */
import { each, every, filtered, grouped, mapped, type Steps, some } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { allocationName } from '../../model/allocation/allocation-rules.ts';
import { isTerminalDeployment } from '../../model/deployment/deployment.ts';
import type { DesiredUpdates } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import type { PlannedStop } from '../../model/plan/plan.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { type GroupContext, type GroupDecision, noUpdates, type Postponed } from '../decision.ts';
import { isMarkedUnknown } from '../reschedule.ts';
import { descriptions } from '../view.ts';
import type { EvaluationContext } from '../waiting.ts';
import { type AwayDecision, decideAway } from './away.ts';
import { canaryKind, succeededByCanaries } from './canary.ts';
import { type Classified, classify, counts, isCurrent, isNodeGone, ofKind } from './classify.ts';
import { stopsForExcess } from './excess.ts';
import { ordersFor, type Replacing, replacedBy, replacedCount } from './requests.ts';
import { resolveReturns } from './returns.ts';
import { batchSize, type GroupRollout, groupRollout, isAllHealthy, isMoving } from './rollout.ts';
import { backMark, lostStop, mark, stopOf } from './stops.ts';
import { sortedByIndex, splitUpdates, type Updates } from './updates.ts';

/** The canaries of a group, or its other allocations, split into counting and away. */
interface GroupPart {
  readonly counting: readonly Classified[];
  readonly away: AwayDecision;
}

/** Facts about a group, before the decision. */
interface Findings {
  readonly regulars: GroupPart;
  readonly canaries: GroupPart;
  /** Canaries of deployments that have ended. */
  readonly strays: readonly Allocation[];
  readonly superfluous: readonly Allocation[];
  readonly excess: readonly Allocation[];
  /** The allocations that count, without those in excess. */
  readonly staying: readonly Classified[];
  readonly updates: Updates;
  /** The number of allocations that the group lacks. */
  readonly missing: number;
  readonly rollout: GroupRollout;
}

export function* reconcileGroup(
  group: TaskGroup,
  members: readonly Allocation[],
  context: GroupContext,
): Steps<GroupDecision> {
  const { job } = context;
  const found = yield* findingsOf(group, members, context);
  const { regulars, canaries, staying, updates, rollout } = found;
  const here = yield* allocationsIn(staying);
  const failed = yield* filtered(staying, hasFailed);
  // A failed allocation of an earlier version waits for its update, if the rollout moves.
  const isWaitingForTurn = isMoving(rollout.stage) && failed.length > 0;
  const awaitsTurn = new Set(isWaitingForTurn ? updates.destructive : []);
  const failing = failed.filter(({ allocation }) => !awaitsTurn.has(allocation));
  const inPlace = rollout.stage === 'halted' ? [] : updates.inPlace;
  const replaceable = regulars.away.replaceable.slice(0, found.missing);
  const begun: Replacing = {
    reschedule: yield* ofKind(failing, 'reschedule-now'),
    replaceable: replaceable,
    fresh: isMoving(rollout.stage) ? found.missing - replaceable.length : 0,
    update: [],
    migrate: yield* allocationsIn(yield* ofKind(staying, 'migrating')),
  };
  const started = replacedCount(begun) + inPlace.length;
  const size = yield* batchSize(group, rollout, here, started);
  const regular = { ...begun, update: updates.destructive.slice(0, size) };
  const canary = yield* canaryWork(rollout, canaries);
  const orders = yield* ordersFor({
    job,
    group,
    rollout,
    regular,
    canary,
    versions: context.versions,
    keptNames: yield* namesKept(staying, regulars.away, regular),
    keptCanaryNames: yield* namesKept(canaries.counting, canaries.away, canary),
    canaryNames: canary.fresh === 0 ? [] : namesForCanaries(job, group, updates.destructive, here),
  });
  const delayed = yield* ofKind([...failing, ...canaries.counting], 'reschedule-later');
  const kept = yield* filtered(
    [...staying, ...canaries.counting],
    ({ allocation, standing }) => standing.kind === 'kept' && isMarkedUnknown(allocation),
  );
  const marked = allocationsOf(kept);
  const isWaiting =
    delayed.length + regulars.away.awaited.length + canaries.away.awaited.length > 0;
  const isBusy = started + updates.destructive.length + replacedCount(canary) + found.missing > 0;
  return {
    job,
    group,
    inPlace,
    ...orders,
    stops: [...(yield* stopsOf(group, found, context)), ...marked.map(backMark)],
    deploymentId: rollout.deploymentId,
    replacedAway: [...regulars.away.replacedAway, ...canaries.away.replacedAway],
    postponed: [
      ...regulars.away.postponed,
      ...canaries.away.postponed,
      ...delayed.flatMap(postponedOf),
    ],
    entry: rollout.entry,
    isSettled: !isBusy && !isWaiting && (yield* isAllHealthy(here, rollout)),
    updates: yield* countUpdates(found, regular, canary, {
      InPlaceUpdate: inPlace.length,
      RescheduleLater: delayed.length,
      Reconnect: marked.length,
    }),
  };
}

/**
 * Canaries take the names of the allocations that they will succeed, then unused names. A name of an
 * allocation of the current version comes last, because it would exist twice for ever.
 * Source: docs/behaviour/scheduling.md#names.
 */
function namesForCanaries(
  job: Job,
  group: TaskGroup,
  outdated: readonly Allocation[],
  staying: readonly Allocation[],
): readonly string[] {
  const old = new Set(outdated);
  const held = new Set(staying.map(({ Name }) => Name));
  const kept = new Set(staying.filter((one) => !old.has(one)).map(({ Name }) => Name));
  const own = Array.from({ length: group.Count }, (_, index) =>
    allocationName(job.ID, group.Name, index),
  );
  return [
    ...outdated.map(({ Name }) => Name).filter((name) => !kept.has(name)),
    ...own.filter((name) => !held.has(name)),
    ...kept,
  ];
}

function* findingsOf(
  group: TaskGroup,
  members: readonly Allocation[],
  context: GroupContext,
): Steps<Findings> {
  const { job, versions } = context;
  const everyone = yield* classifyAll(group, members, context);
  const { superfluous } = yield* resolveReturns(job, group, everyone);
  const left = new Set(superfluous);
  const kinds = yield* grouped(everyone, ({ allocation }) =>
    left.has(allocation) ? 'superfluous' : canaryKind(allocation, group, context),
  );
  const regulars = yield* partOf(kinds.get('regular') ?? [], group, context);
  const succeeded = new Set(succeededByCanaries(regulars.counting, group, context.deployments));
  const needed = yield* filtered(regulars.counting, (one) => !succeeded.has(one));
  const excess = yield* stopsForExcess(job, needed, group.Count);
  const staying = yield* filtered(needed, ({ allocation }) => !excess.has(allocation.ID));
  const updates = yield* splitUpdates(job, group, staying, versions);
  const missing = Math.max(group.Count - staying.length - regulars.away.awaited.length, 0);
  const due = yield* ofKind(staying, 'reschedule-now');
  const outdated = new Set(due.length > 0 ? updates.destructive : []);
  const failed = due.filter((one) => !outdated.has(one.allocation));
  const work = {
    destructive: updates.destructive.length,
    inPlace: updates.inPlace.length,
    placements: missing + failed.length + (yield* ofKind(staying, 'migrating')).length,
    isChange:
      updates.destructive.length > 0 || !(yield* every(updates.inPlace, versions.isScaledDown)),
    hasCurrent: yield* some(members, (one) => isCurrent(one, job)),
    canaries: updates.destructive.length > 0 ? (group.Update?.Canary ?? 0) : 0,
  };
  return {
    regulars,
    staying,
    updates,
    missing,
    superfluous,
    canaries: yield* partOf(kinds.get('canary') ?? [], group, context),
    strays: strandedCanaries(kinds.get('stray') ?? []),
    excess: yield* allocationsIn([
      ...succeeded,
      ...(yield* filtered(needed, (one) => excess.has(one.allocation.ID))),
    ]),
    rollout: groupRollout(group, work, context),
  };
}

function* classifyAll(
  group: TaskGroup,
  members: readonly Allocation[],
  context: GroupContext,
): Steps<readonly Classified[]> {
  const { deployment } = context;
  const isActive = deployment !== undefined && !isTerminalDeployment(deployment);
  const activeDeploymentId = isActive ? deployment.ID : '';
  const classifyContext = { ...context, group, activeDeploymentId };
  return yield* mapped(yield* sortedByIndex(members), (allocation) => {
    return { allocation, standing: classify(allocation, classifyContext) };
  });
}

const allocationsOf = (classified: readonly Classified[]): Allocation[] =>
  classified.map(({ allocation }) => allocation);

const allocationsIn = (classified: readonly Classified[]): Steps<Allocation[]> =>
  mapped(classified, ({ allocation }) => allocation);

const namesOf = (allocations: readonly Allocation[]): string[] =>
  allocations.map(({ Name }) => Name);

const hasFailed = ({ standing: { kind } }: Classified): boolean =>
  kind === 'reschedule-now' || kind === 'reschedule-later';

function* partOf(
  classified: readonly Classified[],
  group: TaskGroup,
  context: EvaluationContext,
): Steps<GroupPart> {
  return {
    counting: yield* filtered(classified, ({ standing }) => counts(standing)),
    away: yield* decideAway(classified, group, context),
  };
}

/** Stray canaries that may still run. */
const strandedCanaries = (classified: readonly Classified[]): readonly Allocation[] =>
  classified
    .filter(
      ({ standing: { kind } }) => kind !== 'ignored' && kind !== 'ended' && kind !== 'awaited',
    )
    .map(({ allocation }) => allocation);

function* canaryWork(
  { stage, canaries }: GroupRollout,
  { counting, away }: GroupPart,
): Steps<Replacing> {
  const missing = Math.max(canaries - counting.length - away.awaited.length, 0);
  const replaceable = away.replaceable.slice(0, missing);
  return {
    reschedule: yield* ofKind(counting, 'reschedule-now'),
    replaceable: replaceable,
    fresh: stage === 'canaries' ? missing - replaceable.length : 0,
    update: [],
    migrate: allocationsOf(yield* ofKind(counting, 'migrating')),
  };
}

/** Names of allocations that are not replaced, or are awaited. */
function* namesKept(
  counting: readonly Classified[],
  { awaited }: AwayDecision,
  replacing: Replacing,
): Steps<readonly string[]> {
  const replaced = replacedBy(replacing);
  const names = namesOf(awaited);
  yield* each(counting, ({ allocation: { ID, Name } }) => {
    if (!replaced.has(ID)) names.push(Name);
  });
  return names;
}

function* stopsOf(
  group: TaskGroup,
  { regulars, canaries, strays, superfluous, excess, staying }: Findings,
  { nodeOf }: GroupContext,
): Steps<readonly PlannedStop[]> {
  // A node that is gone will not report the end of a stopped allocation.
  const end = (allocation: Allocation, description: string): PlannedStop =>
    isNodeGone(nodeOf(allocation.NodeID), group)
      ? lostStop(allocation)
      : stopOf(allocation, description);
  const migrating = yield* ofKind([...staying, ...canaries.counting], 'migrating');
  return [
    ...regulars.away.stops,
    ...canaries.away.stops,
    ...superfluous.map((one) => end(one, descriptions.reconnected)),
    ...(yield* mapped([...strays, ...excess], (one) => end(one, descriptions.notNeeded))),
    ...(yield* mapped(migrating, ({ allocation }) => stopOf(allocation, descriptions.migrating))),
  ];
}

const postponedOf = ({ allocation, standing }: Classified): readonly Postponed[] => {
  if (standing.kind !== 'reschedule-later' || standing.dueMs === undefined) return [];
  const stop = isMarkedUnknown(allocation) ? backMark(allocation) : mark(allocation);
  return [{ stop, dueMs: standing.dueMs, cause: 'reschedule' }];
};

function* countUpdates(
  { regulars, canaries, strays, superfluous, excess, staying }: Findings,
  regular: Replacing,
  canary: Replacing,
  counted: Pick<DesiredUpdates, 'InPlaceUpdate' | 'RescheduleLater' | 'Reconnect'>,
): Steps<DesiredUpdates> {
  const Disconnect = regulars.away.disconnected + canaries.away.disconnected;
  const replaced = new Set([...replacedBy(regular), ...replacedBy(canary)]);
  let untouched = 0;
  yield* each([...staying, ...canaries.counting], ({ allocation: { ID } }) => {
    if (!replaced.has(ID)) untouched++;
  });
  const { InPlaceUpdate, RescheduleLater, Reconnect } = counted;
  return {
    ...noUpdates,
    ...counted,
    Ignore: Math.max(untouched - InPlaceUpdate - RescheduleLater - Reconnect, 0),
    Place: regular.reschedule.length + regular.replaceable.length + regular.fresh,
    Canary: canary.reschedule.length + canary.replaceable.length + canary.fresh,
    Migrate: regular.migrate.length + canary.migrate.length,
    Stop: strays.length + superfluous.length + excess.length,
    DestructiveUpdate: regular.update.length,
    RescheduleNow: regular.reschedule.length + canary.reschedule.length,
    Disconnect,
  };
}
