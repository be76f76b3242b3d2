/**
 * Builds the plan and the outcome of an evaluation from its decisions and placements.
 * Source: docs/behaviour/scheduling.md#plans-become-state.
 */
import { instantFromMs } from '../base/instant.ts';
import type { Ids } from '../base/ports.ts';
import { each, joined, type Steps } from '../base/steps.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import type { PlacementMetrics } from '../model/allocation/placement-metrics.ts';
import type { DeploymentGroup } from '../model/deployment/deployment.ts';
import type { DesiredUpdates, Evaluation } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import { runsEverywhere } from '../model/job/job-rules.ts';
import type { Plan, PlannedStop } from '../model/plan/plan.ts';
import { followUpEvaluation, updaterInPlace } from './build.ts';
import { noUpdates, type Reconciliation } from './decision.ts';
import type { GroupPlacement } from './placing/place.ts';
import { postponements } from './postpone.ts';
import { groupEntry, isRolledOut, newDeployment, success } from './reconcile/rollout.ts';
import { mark } from './reconcile/stops.ts';
import { exhausted, exhaustedMetrics, waitForNodes } from './system/outcome.ts';
import {
  type ClusterView,
  descriptions,
  type EvaluationOutcome,
  type Proposed,
  type SchedulerResult,
} from './view.ts';

export interface Decided {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly job: Job | undefined;
  readonly reconciliation: Reconciliation;
  /** By group name; groups with nothing to place are absent. */
  readonly placed: ReadonlyMap<string, readonly GroupPlacement[]>;
  readonly nowMs: number;
  readonly ids: Ids;
}

/** The evaluations that wait for room, and their part of the outcome. */
interface Waiting {
  readonly evaluations: readonly Proposed<Evaluation>[];
  readonly outcome: Partial<EvaluationOutcome>;
}

export function* assemble(decided: Decided): Steps<SchedulerResult> {
  const { view, evaluation, job, reconciliation, nowMs, ids } = decided;
  yield;
  const { groups, deployment: seen } = reconciliation;
  const placed = [...decided.placed.values()].flat();
  const inPlace = yield* inPlaceUpdates(decided);
  const settled = [reconciliation.stops, ...groups.map((decision) => decision.stops)];
  const stops = yield* joined([...settled, ...placed.map((one) => one.stops)]);
  const placements = yield* joined(placed.map((one) => one.placements));
  const preemptions = yield* joined(placed.map((one) => one.preemptions));
  const marks = yield* unplacedMarks(placed);
  const { failures, queued } = shortages(decided);
  const deployment = deploymentOf(decided);
  const postponed = groups.flatMap((decision) => decision.postponed);
  const later =
    job === undefined
      ? { evaluations: [], stops: [] }
      : postponements(postponed, { evaluation, job, nowMs, ids });
  const waiting = job === undefined ? undefined : waitFor(decided, job, failures);
  const plan: Plan = {
    ...planFor(view, evaluation, job),
    stops: yield* joined([stops, later.stops, marks]),
    placements,
    preemptions,
    inPlaceUpdates: inPlace,
    deploymentSeen: seen === undefined ? null : { ID: seen.ID, Status: seen.Status },
    deployment,
    deploymentUpdates: [...reconciliation.cancellations, ...successOf(decided)],
    evaluations: [...later.evaluations, ...(waiting?.evaluations ?? [])],
    annotations: annotationsOf(decided),
    failures,
    queued,
  };
  const outcome = {
    ...complete,
    ...waiting?.outcome,
    failures: Object.keys(failures).length === 0 ? null : failures,
    queued,
  };
  return { plan, isEmpty: isEmpty(plan), outcome };
}

function* inPlaceUpdates({ reconciliation, evaluation, nowMs }: Decided): Steps<Allocation[]> {
  const updates: Allocation[] = [];
  for (const decision of reconciliation.groups) {
    const update = updaterInPlace(evaluation, decision, nowMs);
    yield* each(decision.inPlace, (one) => updates.push(update(one)));
  }
  return updates;
}

export const complete: EvaluationOutcome = {
  status: 'complete',
  statusDescription: '',
  blockedEvaluationId: '',
  failures: null,
  queued: {},
  classEligibility: null,
  escapedComputedClass: false,
};

const planFor = (view: ClusterView, evaluation: Evaluation, job: Job | undefined): Plan => ({
  evaluationId: evaluation.ID,
  namespace: evaluation.Namespace,
  jobId: evaluation.JobID,
  jobVersion: job?.Version ?? 0,
  jobModifyIndex: job?.JobModifyIndex ?? 0,
  priority: evaluation.Priority,
  allAtOnce: job?.AllAtOnce ?? false,
  snapshotIndex: view.index,
  stops: [],
  placements: [],
  preemptions: [],
  inPlaceUpdates: [],
  deploymentSeen: null,
  deployment: null,
  deploymentUpdates: [],
  evaluations: [],
  annotations: {},
  failures: {},
  queued: {},
});

const isEmpty = ({ stops, placements, inPlaceUpdates, deployment, deploymentUpdates }: Plan) =>
  stops.length + placements.length + inPlaceUpdates.length + deploymentUpdates.length === 0 &&
  deployment === null;

/** A system job's deployment does not expect allocations on nodes that are full. */
function deploymentOf({
  evaluation,
  job,
  reconciliation,
  placed,
  nowMs,
}: Decided): Plan['deployment'] {
  const { groups, newDeploymentId } = reconciliation;
  if (job === undefined || newDeploymentId === '') return null;
  const entries = new Map<string, DeploymentGroup>();
  for (const { group, entry } of groups) {
    if (entry === undefined) continue;
    const full = runsEverywhere(job) ? exhausted(placed.get(group.Name) ?? []).length : 0;
    const DesiredTotal = entry.DesiredTotal - full;
    if (DesiredTotal > 0) entries.set(group.Name, { ...entry, DesiredTotal });
  }
  if (entries.size === 0) return null;
  const { Priority: priority } = evaluation;
  return newDeployment({ id: newDeploymentId, job, entries, priority, now: instantFromMs(nowMs) });
}

/**
 * The deployment succeeds when all its groups are complete and this plan places nothing of them.
 */
function successOf({ reconciliation, placed }: Decided): Plan['deploymentUpdates'] {
  const { deployment, groups } = reconciliation;
  if (deployment?.Status !== 'running') return [];
  const members = groups.filter(({ group }) => groupEntry(deployment, group) !== undefined);
  const isDone = members.every(({ group, isSettled }) => {
    const parts = placed.get(group.Name) ?? [];
    const isQuiet = parts.every(({ placements }) => placements.length === 0);
    return isSettled && isQuiet && isRolledOut(groupEntry(deployment, group)!);
  });
  // A stopped job has no groups; its deployment is cancelled elsewhere.
  return isDone && members.length > 0 ? [success(deployment)] : [];
}

/** Failures by group. `Object.fromEntries`, because a group may be named `__proto__`. */
function shortages({
  view,
  job,
  reconciliation,
  placed,
}: Decided): Pick<Plan, 'failures' | 'queued'> {
  const failures: [string, PlacementMetrics][] = [];
  const queued: [string, number][] = [];
  for (const { group, failure } of reconciliation.groups) {
    const parts = placed.get(group.Name) ?? [];
    const everywhere = job !== undefined && runsEverywhere(job);
    const short = everywhere
      ? (exhaustedMetrics(view, parts) ?? failure)
      : coalesced(parts.flatMap((part) => part.failure ?? []));
    const waiting = everywhere
      ? exhausted(parts).length
      : parts.reduce((sum, part) => sum + part.queued, 0);
    queued.push([group.Name, waiting]);
    if (short !== undefined) failures.push([group.Name, short]);
  }
  return { failures: Object.fromEntries(failures), queued: Object.fromEntries(queued) };
}

/** The first failure of a group in full, with a count of the others. */
function coalesced(failures: readonly PlacementMetrics[]): PlacementMetrics | undefined {
  const [first, ...others] = failures;
  if (first === undefined || others.length === 0) return first;
  const more = others.reduce((sum, { CoalescedFailures }) => sum + 1 + CoalescedFailures, 0);
  return { ...first, CoalescedFailures: first.CoalescedFailures + more };
}

/** Notes, once, on a failed allocation that no node takes its replacement. */
function* unplacedMarks(placed: readonly GroupPlacement[]): Steps<readonly PlannedStop[]> {
  const marks: PlannedStop[] = [];
  for (const { unplaced } of placed) {
    yield* each(unplaced, ({ request: { kind, previous } }) => {
      if (kind !== 'reschedule' || previous === undefined) return;
      if (previous.RescheduleTracker?.LastReschedule === 'no placement') return;
      marks.push({ ...mark(previous), lastReschedule: 'no placement' });
    });
  }
  return marks;
}

function annotationsOf({
  reconciliation: { groups, stopsByGroup },
  placed,
}: Decided): Record<string, DesiredUpdates> {
  const preemptionsOf = (name: string): number =>
    (placed.get(name) ?? []).reduce((sum, { preemptions }) => sum + preemptions.length, 0);
  return Object.fromEntries([
    ...[...stopsByGroup].map(([name, Stop]) => [name, { ...noUpdates, Stop }] as const),
    ...groups.map(({ group: { Name }, updates }) => {
      // `stopsByGroup` holds stops of earlier registrations.
      const Stop = updates.Stop + (stopsByGroup.get(Name) ?? 0);
      return [Name, { ...updates, Stop, Preemptions: preemptionsOf(Name) }] as const;
    }),
  ]);
}

/** Unplaced requests wait in a blocked evaluation: this one if it was blocked, else a new one. */
function waitFor(
  { view, evaluation, placed, nowMs, ids }: Decided,
  job: Job,
  failures: Plan['failures'],
): Waiting | undefined {
  const parts = [...placed.values()].flat();
  if (runsEverywhere(job)) {
    return waitForNodes({ view, evaluation, job, placed: parts, failures, nowMs, ids });
  }
  const short = parts.filter(({ failure }) => failure !== undefined);
  if (short.length === 0) return undefined;
  const eligibility = new Map<string, boolean>();
  for (const { classes } of short) {
    for (const [name, verdict] of classes) {
      eligibility.set(name, eligibility.get(name) === true || verdict);
    }
  }
  const outcome = {
    classEligibility: eligibility.size === 0 ? null : Object.fromEntries(eligibility),
    escapedComputedClass: short.some(({ escaped }) => escaped),
  };
  if (evaluation.Status === 'blocked') {
    const statusDescription = descriptions.blocked;
    return { evaluations: [], outcome: { ...outcome, status: 'blocked', statusDescription } };
  }
  const id = ids.uuid();
  const waiting = followUpEvaluation(
    { id, evaluation, job, nowMs },
    {
      Status: 'blocked',
      StatusDescription: descriptions.blocked,
      FailedTGAllocs: failures,
      ClassEligibility: outcome.classEligibility,
      EscapedComputedClass: outcome.escapedComputedClass,
      SnapshotIndex: view.index,
    },
  );
  return { evaluations: [waiting], outcome: { ...outcome, blockedEvaluationId: id } };
}
