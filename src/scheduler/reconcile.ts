/**
 * From what there is of a job to what is to be done about it. Decides about allocations, not about
 * nodes. Source: facts/scheduler.md §6.3, §6.4, §6.12.
 *
 * 1. What counts after the decision plus what is placed is never more than `Count`.
 * 2. No two allocations that count get the same name from here.
 * 3. Nothing is stopped and placed when nothing changed.
 */
import type { Allocation } from '../model/allocation/allocation.ts';
import {
  allocationIndex,
  isClientTerminal,
  isTerminal,
} from '../model/allocation/allocation-rules.ts';
import type { DesiredUpdates } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import { isEvaluated } from '../model/job/job-rules.ts';
import type { PlannedStop } from '../model/plan/plan.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import {
  type ClassifyContext,
  classify,
  isCurrent,
  isNodeGone,
  type Standing,
} from './classify.ts';
import { stopsForExcess } from './excess.ts';
import { NameIndex } from './names.ts';
import { descriptions } from './view.ts';

export interface PlacementRequest {
  readonly kind: 'reschedule' | 'lost' | 'new' | 'update' | 'migrate';
  readonly name: string;
  /** What it replaces; absent for new ones. */
  readonly previous: Allocation | undefined;
  /** Done only if the placement succeeds, so that a service never shrinks for an update. */
  readonly stop: PlannedStop | undefined;
  /** Of a reschedule, for the tracker. */
  readonly delayNs: number;
}

export interface GroupDecision {
  readonly group: TaskGroup;
  readonly stops: readonly PlannedStop[];
  /** Of an older version, and able to take up the new one where they are, rules permitting. */
  readonly inPlace: readonly Allocation[];
  /** In the order of §6.3: reschedules, lost ones, new ones, updates, migrations. */
  readonly placements: readonly PlacementRequest[];
  readonly postponed: readonly { readonly allocation: Allocation; readonly dueMs: number }[];
  readonly updates: DesiredUpdates;
}

export interface Reconciliation {
  /** Of a stopped job and of groups that are no more. */
  readonly stops: readonly PlannedStop[];
  readonly stopsByGroup: ReadonlyMap<string, number>;
  readonly groups: readonly GroupDecision[];
}

export interface ReconcileContext extends Pick<ClassifyContext, 'nodeOf' | 'nowMs'> {
  readonly evaluationId: string;
  readonly job: Job | undefined;
  readonly allocations: readonly Allocation[];
  /** Whether only a new allocation can take up the job as it is now. */
  readonly isOutdated: (allocation: Allocation) => boolean;
  /**
   * Splits allocations of older versions that could stay as far as their specification goes: those
   * that pass the new version's rules where they are, and the others.
   */
  readonly splitStaying: (
    group: TaskGroup,
    allocations: readonly Allocation[],
    current: readonly Allocation[],
  ) => { readonly staying: readonly Allocation[]; readonly leaving: readonly Allocation[] };
}

export function reconcile(context: ReconcileContext): Reconciliation {
  const { job, allocations } = context;
  const active = job === undefined || job.Stop || !isEvaluated(job) ? undefined : job;
  const groups = new Map(active?.TaskGroups.map((group) => [group.Name, group]));
  const stops: PlannedStop[] = [];
  const stopsByGroup = new Map<string, number>();
  const byGroup = new Map<string, Allocation[]>([...groups.keys()].map((name) => [name, []]));
  for (const allocation of allocations) {
    const members = byGroup.get(allocation.TaskGroup);
    if (members !== undefined) {
      members.push(allocation);
      continue;
    }
    const stop = unconditionalStop(allocation, context);
    if (stop === undefined) continue;
    stops.push(stop);
    stopsByGroup.set(allocation.TaskGroup, (stopsByGroup.get(allocation.TaskGroup) ?? 0) + 1);
  }
  const decisions = [...groups.values()].map((group) =>
    reconcileGroup(active!, group, byGroup.get(group.Name)!, context),
  );
  return { stops, stopsByGroup, groups: decisions };
}

function unconditionalStop(
  allocation: Allocation,
  { nodeOf }: ReconcileContext,
): PlannedStop | undefined {
  const isGone = isNodeGone(nodeOf(allocation.NodeID), undefined);
  if (isTerminal(allocation)) return vanishedStop(allocation, isGone);
  return isGone ? lostStop(allocation) : stopOf(allocation, descriptions.notNeeded);
}

/** A node that is gone will not report that what was stopped on it has ended. */
const vanishedStop = (allocation: Allocation, isGone: boolean): PlannedStop | undefined =>
  isGone && !isClientTerminal(allocation) ? lostStop(allocation) : undefined;

export const stopOf = (allocation: Allocation, description: string): PlannedStop => ({
  allocationId: allocation.ID,
  nodeId: allocation.NodeID,
  desiredStatus: 'stop',
  desiredDescription: description,
});

const lostStop = (allocation: Allocation): PlannedStop => ({
  ...stopOf(allocation, descriptions.lost),
  clientStatus: 'lost',
});

type Classified = { readonly allocation: Allocation; readonly standing: Standing };

const byIndex = (left: Allocation, right: Allocation): number =>
  allocationIndex(left.Name) - allocationIndex(right.Name) || (left.ID < right.ID ? -1 : 1);

function reconcileGroup(
  job: Job,
  group: TaskGroup,
  members: readonly Allocation[],
  context: ReconcileContext,
): GroupDecision {
  const classified = [...members].sort(byIndex).map((allocation) => ({
    allocation,
    standing: classify(allocation, { ...context, job, group }),
  }));
  const counting = classified.filter(({ standing }) => counts(standing));
  const excess = stopsForExcess(job, counting, group.Count);
  const staying = counting.filter(({ allocation }) => !excess.has(allocation.ID));
  const updates = splitUpdates(job, group, staying, context);
  const lost = ofKind(classified, 'lost');
  const missing = Math.max(group.Count - staying.length, 0);
  const replacing = {
    reschedule: staying.filter(({ standing }) => standing.kind === 'reschedule-now'),
    migrate: ofKind(staying, 'migrating'),
    update: updates.destructive,
    lost: lost.slice(0, missing),
    fresh: missing - Math.min(missing, lost.length),
  };
  const unmarked = ofKind(staying, 'unknown').filter((one) => one.ClientStatus !== 'unknown');
  const stopped = counting.filter(({ allocation }) => excess.has(allocation.ID));
  return {
    group,
    stops: [
      ...[...ofKind(classified, 'vanished'), ...lost].map(lostStop),
      ...stopped.map(({ allocation }) => stopOf(allocation, descriptions.notNeeded)),
      ...replacing.migrate.map((allocation) => stopOf(allocation, descriptions.migrating)),
      ...unmarked.map(unknownMark),
    ],
    inPlace: updates.inPlace,
    placements: requests(job, group, staying, replacing),
    postponed: staying.flatMap(({ allocation, standing }) =>
      standing.kind === 'reschedule-later' ? [{ allocation, dueMs: standing.dueMs }] : [],
    ),
    updates: countUpdates(staying, stopped.length, replacing, updates),
  };
}

const ofKind = (classified: readonly Classified[], kind: Standing['kind']): Allocation[] =>
  classified.filter(({ standing }) => standing.kind === kind).map(({ allocation }) => allocation);

const counts = ({ kind }: Standing): boolean =>
  kind !== 'ignored' && kind !== 'vanished' && kind !== 'lost';

const unknownMark = (allocation: Allocation): PlannedStop => ({
  ...stopOf(allocation, descriptions.unknown),
  desiredStatus: 'run',
  clientStatus: 'unknown',
});

interface Updates {
  readonly inPlace: readonly Allocation[];
  readonly destructive: readonly Allocation[];
}

/** Deployments will limit `destructive` here, in this order; without one all go at once. */
function splitUpdates(
  job: Job,
  group: TaskGroup,
  staying: readonly Classified[],
  context: ReconcileContext,
): Updates {
  const old = ofKind(staying, 'kept').filter((allocation) => !isCurrent(allocation, job));
  if (old.length === 0) return { inPlace: [], destructive: [] };
  const outdated = old.filter(context.isOutdated);
  const compatible = old.filter((allocation) => !outdated.includes(allocation));
  const current = ofKind(staying, 'kept').filter((allocation) => isCurrent(allocation, job));
  const split = context.splitStaying(group, compatible, current);
  return {
    inPlace: split.staying,
    destructive: [...outdated, ...split.leaving].sort(byIndex),
  };
}

interface Replacing {
  readonly reschedule: readonly Classified[];
  readonly migrate: readonly Allocation[];
  readonly update: readonly Allocation[];
  readonly lost: readonly Allocation[];
  /** How many are placed that replace nothing. */
  readonly fresh: number;
}

/** Names go to those who had them first, then to the new ones, so that none is taken twice. */
function requests(
  job: Job,
  group: TaskGroup,
  staying: readonly Classified[],
  { reschedule, migrate, update, lost, fresh }: Replacing,
): readonly PlacementRequest[] {
  const replaced = new Set([...reschedule.map((one) => one.allocation), ...migrate, ...update]);
  const kept = staying.map((one) => one.allocation).filter((one) => !replaced.has(one));
  const names = new NameIndex(
    job.ID,
    group.Name,
    kept.map((one) => one.Name),
  );
  const replacement = (
    kind: PlacementRequest['kind'],
    previous: Allocation,
    stop?: string,
    delayNs = 0,
  ): PlacementRequest => ({
    kind,
    name: names.inherit(previous.Name),
    previous,
    stop: stop === undefined ? undefined : stopOf(previous, stop),
    delayNs,
  });
  const rescheduled = reschedule.map(({ allocation, standing }) => {
    const delayNs = standing.kind === 'reschedule-now' ? standing.delayNs : 0;
    return replacement('reschedule', allocation, descriptions.rescheduled, delayNs);
  });
  const updated = update.map((one) => replacement('update', one, descriptions.updating));
  const migrated = migrate.map((one) => replacement('migrate', one));
  const found = lost.map((one) => replacement('lost', one));
  const added = Array.from({ length: fresh }, (): PlacementRequest => {
    return { kind: 'new', name: names.lowest(), previous: undefined, stop: undefined, delayNs: 0 };
  });
  return [...rescheduled, ...found, ...added, ...updated, ...migrated];
}

function countUpdates(
  staying: readonly Classified[],
  stopped: number,
  { reschedule, migrate, update, lost, fresh }: Replacing,
  { inPlace }: Updates,
): DesiredUpdates {
  const later = staying.filter(({ standing }) => standing.kind === 'reschedule-later').length;
  const touched = reschedule.length + migrate.length + update.length + inPlace.length + later;
  return {
    ...noUpdates,
    Ignore: staying.length - touched,
    Place: reschedule.length + lost.length + fresh,
    Migrate: migrate.length,
    Stop: stopped,
    InPlaceUpdate: inPlace.length,
    DestructiveUpdate: update.length,
    RescheduleNow: reschedule.length,
    RescheduleLater: later,
  };
}

export const noUpdates: DesiredUpdates = {
  Ignore: 0,
  Place: 0,
  Migrate: 0,
  Stop: 0,
  InPlaceUpdate: 0,
  DestructiveUpdate: 0,
  Canary: 0,
  Preemptions: 0,
  Disconnect: 0,
  Reconnect: 0,
  RescheduleNow: 0,
  RescheduleLater: 0,
};
