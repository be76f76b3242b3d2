/** What is to be done about one group of a service or batch job. Source: facts §5.4, §6.3. */
import type { Steps } from '../base/steps.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { isTerminalDeployment } from '../model/deployment/deployment.ts';
import type { DesiredUpdates } from '../model/evaluation/evaluation.ts';
import type { PlannedStop } from '../model/plan/plan.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { type Absences, absences } from './absences.ts';
import { canaryKind, succeededByCanaries } from './canary.ts';
import { type Classified, classify, counts, isCurrent, isNodeGone, ofKind } from './classify.ts';
import { type GroupContext, type GroupDecision, noUpdates, type Postponed } from './decision.ts';
import { stopsForExcess } from './excess.ts';
import { reunite } from './reconnect.ts';
import { ordersFor, type Replacing, replacedBy, replacedCount } from './requests.ts';
import { isMarkedUnknown } from './reschedule.ts';
import { batchSize, type GroupRollout, groupRollout, isAllHealthy, isMoving } from './rollout.ts';
import { backMark, lostStop, mark, stopOf } from './stops.ts';
import { sortedByIndex, splitUpdates, type Updates } from './updates.ts';
import { descriptions } from './view.ts';

/** The canaries, or all the others: those that count, and those that are away. */
interface Crew {
  readonly counting: readonly Classified[];
  readonly away: Absences;
}

/** What was found of a group, before anything is decided. */
interface Findings {
  readonly crew: Crew;
  readonly canaries: Crew;
  /** Canaries of nobody, and what is not needed since another one came back. */
  readonly strays: readonly Allocation[];
  readonly superfluous: readonly Allocation[];
  readonly excess: readonly Allocation[];
  /** Of those that count, the ones that are not too many. */
  readonly staying: readonly Classified[];
  readonly updates: Updates;
  /** How many are to be placed so that there are enough. */
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
  const { crew, canaries, staying, updates, rollout } = found;
  // What failed under the version before waits for its turn to be updated, if that is to come.
  const awaitsTurn = new Set(isMoving(rollout.stage) ? updates.destructive : []);
  const failing = staying.filter(({ allocation }) => !awaitsTurn.has(allocation));
  const inPlace = rollout.stage === 'halted' ? [] : updates.inPlace;
  const vacant = crew.away.vacant.slice(0, found.missing);
  const begun: Replacing = {
    reschedule: ofKind(failing, 'reschedule-now'),
    vacant,
    fresh: isMoving(rollout.stage) ? found.missing - vacant.length : 0,
    update: [],
    migrate: allocationsOf(ofKind(staying, 'migrating')),
  };
  const started = replacedCount(begun) + inPlace.length;
  const size = batchSize(group, rollout, allocationsOf(staying), started);
  const regular = { ...begun, update: updates.destructive.slice(0, size) };
  const canary = canaryWork(rollout, canaries);
  const orders = ordersFor({
    ...{ job, group, rollout, regular, canary, versions: context.versions },
    keptNames: namesKept(staying, crew.away, regular),
    keptCanaryNames: namesKept(canaries.counting, canaries.away, canary),
    canaryNames: [...updates.destructive, ...allocationsOf(staying)].map((one) => one.Name),
  });
  const delayed = ofKind([...failing, ...canaries.counting], 'reschedule-later');
  const marked = allocationsOf(ofKind([...staying, ...canaries.counting], 'kept')).filter(
    isMarkedUnknown,
  );
  const isWaiting = delayed.length + crew.away.awaited.length + canaries.away.awaited.length > 0;
  const isBusy = started + updates.destructive.length + replacedCount(canary) + found.missing > 0;
  return {
    ...{ job, group, inPlace, ...orders },
    stops: [...stopsOf(group, found, context), ...marked.map(backMark)],
    deploymentId: rollout.deploymentId,
    absent: [...crew.away.absent, ...canaries.away.absent],
    postponed: [
      ...crew.away.postponed,
      ...canaries.away.postponed,
      ...delayed.flatMap(postponedOf),
    ],
    entry: rollout.entry,
    isSettled: !isBusy && !isWaiting && isAllHealthy(allocationsOf(staying), rollout),
    updates: countUpdates(found, regular, canary, {
      InPlaceUpdate: inPlace.length,
      RescheduleLater: delayed.length,
      Reconnect: marked.length,
    }),
  };
}

function* findingsOf(
  group: TaskGroup,
  members: readonly Allocation[],
  context: GroupContext,
): Steps<Findings> {
  const { job, nowMs, versions } = context;
  const everyone = yield* classifyAll(group, members, context);
  const { superfluous } = reunite(job, group, everyone);
  const left = new Set(superfluous);
  const kinds = Map.groupBy(everyone, ({ allocation }) =>
    left.has(allocation) ? 'superfluous' : canaryKind(allocation, group, context),
  );
  yield;
  const crew = crewOf(kinds.get('regular') ?? [], group, nowMs);
  const succeeded = new Set(succeededByCanaries(crew.counting, group, context.deployments));
  const needed = crew.counting.filter((one) => !succeeded.has(one));
  const excess = stopsForExcess(job, needed, group.Count);
  const staying = needed.filter(({ allocation }) => !excess.has(allocation.ID));
  yield;
  const updates = splitUpdates(job, group, staying, versions);
  yield;
  const missing = Math.max(group.Count - staying.length - crew.away.awaited.length, 0);
  const outdated = new Set(updates.destructive);
  const failed = ofKind(staying, 'reschedule-now').filter((one) => !outdated.has(one.allocation));
  const work = {
    destructive: updates.destructive.length,
    inPlace: updates.inPlace.length,
    placements: missing + failed.length + ofKind(staying, 'migrating').length,
    isChange: outdated.size > 0 || !updates.inPlace.every(versions.isScaledDown),
    hasCurrent: members.some((one) => isCurrent(one, job)),
    canaries: outdated.size > 0 ? (group.Update?.Canary ?? 0) : 0,
  };
  return {
    ...{ crew, staying, updates, missing, superfluous },
    canaries: crewOf(kinds.get('canary') ?? [], group, nowMs),
    strays: strandedCanaries(kinds.get('stray') ?? []),
    excess: allocationsOf([...succeeded, ...needed.filter((one) => excess.has(one.allocation.ID))]),
    rollout: groupRollout(job, group, context.deployment, work, context.newDeploymentId),
  };
}

/** Allocations that are looked at before others get their turn. */
const lookedAtPerStep = 2000;

function* classifyAll(
  group: TaskGroup,
  members: readonly Allocation[],
  context: GroupContext,
): Steps<readonly Classified[]> {
  const { deployment } = context;
  const isActive = deployment !== undefined && !isTerminalDeployment(deployment);
  const activeDeploymentId = isActive ? deployment.ID : '';
  const classifyContext = { ...context, group, activeDeploymentId };
  const classified: Classified[] = [];
  for (const allocation of sortedByIndex(members)) {
    classified.push({ allocation, standing: classify(allocation, classifyContext) });
    if (classified.length % lookedAtPerStep === 0) yield;
  }
  return classified;
}

const allocationsOf = (classified: readonly Classified[]): Allocation[] =>
  classified.map(({ allocation }) => allocation);

const crewOf = (classified: readonly Classified[], group: TaskGroup, nowMs: number): Crew => ({
  counting: classified.filter(({ standing }) => counts(standing)),
  away: absences(classified, group, nowMs),
});

/** Those of them of which something may still run. */
const strandedCanaries = (classified: readonly Classified[]): readonly Allocation[] =>
  classified
    .filter(
      ({ standing: { kind } }) => kind !== 'ignored' && kind !== 'ended' && kind !== 'awaited',
    )
    .map(({ allocation }) => allocation);

function canaryWork({ stage, canaries }: GroupRollout, { counting, away }: Crew): Replacing {
  const missing = Math.max(canaries - counting.length - away.awaited.length, 0);
  const vacant = away.vacant.slice(0, missing);
  return {
    reschedule: ofKind(counting, 'reschedule-now'),
    vacant,
    fresh: stage === 'canaries' ? missing - vacant.length : 0,
    update: [],
    migrate: allocationsOf(ofKind(counting, 'migrating')),
  };
}

/** Names of those that nobody replaces; the place of those that are waited for is theirs. */
function namesKept(
  counting: readonly Classified[],
  { awaited }: Absences,
  replacing: Replacing,
): readonly string[] {
  const replaced = replacedBy(replacing);
  const kept = allocationsOf(counting).filter((one) => !replaced.has(one.ID));
  return [...kept, ...awaited].map((one) => one.Name);
}

function stopsOf(
  group: TaskGroup,
  { crew, canaries, strays, superfluous, excess, staying }: Findings,
  { nodeOf }: GroupContext,
): readonly PlannedStop[] {
  // A node that is gone will not say that what was stopped on it has ended.
  const end = (allocation: Allocation, description: string): PlannedStop =>
    isNodeGone(nodeOf(allocation.NodeID), group)
      ? lostStop(allocation)
      : stopOf(allocation, description);
  const migrating = ofKind([...staying, ...canaries.counting], 'migrating');
  return [
    ...crew.away.stops,
    ...canaries.away.stops,
    ...superfluous.map((one) => end(one, descriptions.reconnected)),
    ...[...strays, ...excess].map((one) => end(one, descriptions.notNeeded)),
    ...migrating.map(({ allocation }) => stopOf(allocation, descriptions.migrating)),
  ];
}

const postponedOf = ({ allocation, standing }: Classified): readonly Postponed[] => {
  if (standing.kind !== 'reschedule-later' || standing.dueMs === undefined) return [];
  const stop = isMarkedUnknown(allocation) ? backMark(allocation) : mark(allocation);
  return [{ stop, dueMs: standing.dueMs, cause: 'reschedule' }];
};

function countUpdates(
  { crew, canaries, strays, superfluous, excess, staying }: Findings,
  regular: Replacing,
  canary: Replacing,
  counted: Pick<DesiredUpdates, 'InPlaceUpdate' | 'RescheduleLater' | 'Reconnect'>,
): DesiredUpdates {
  const Disconnect = crew.away.disconnected + canaries.away.disconnected;
  const replaced = [...replacedBy(regular), ...replacedBy(canary)];
  const here = new Set(allocationsOf([...staying, ...canaries.counting]).map((one) => one.ID));
  const touched = replaced.filter((id) => here.has(id)).length;
  const { InPlaceUpdate, RescheduleLater, Reconnect } = counted;
  return {
    ...noUpdates,
    ...counted,
    Ignore: Math.max(here.size - touched - InPlaceUpdate - RescheduleLater - Reconnect, 0),
    Place: regular.reschedule.length + regular.vacant.length + regular.fresh,
    Canary: canary.reschedule.length + canary.vacant.length + canary.fresh,
    Migrate: regular.migrate.length + canary.migrate.length,
    Stop: strays.length + superfluous.length + excess.length,
    DestructiveUpdate: regular.update.length,
    RescheduleNow: regular.reschedule.length + canary.reschedule.length,
    Disconnect,
  };
}
