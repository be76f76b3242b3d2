/**
 * One evaluation to a plan. Pure: the same view, evaluation, instant and ids give the same plan.
 * Source: DESIGN §6, facts/scheduler.md §5.1, §6.1, §6.3.
 */
import type { Ids } from '../base/ports.ts';
import type { PlacementMetrics } from '../model/allocation/placement-metrics.ts';
import type { DesiredUpdates, Evaluation } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import type { Plan } from '../model/plan/plan.ts';
import { followUpEvaluation, updatedInPlace } from './build.ts';
import { type GroupPlacement, Placer } from './place.ts';
import { postponements } from './postpone.ts';
import { noUpdates, type Reconciliation, reconcile } from './reconcile.ts';
import { outdatedTest, stayingSplit } from './staying.ts';
import {
  type ClusterView,
  descriptions,
  type EvaluationOutcome,
  type Proposed,
  type SchedulerResult,
} from './view.ts';

export interface ScheduleOptions {
  readonly nowMs: number;
  readonly ids: Ids;
  /** From 1; each further one looks for dynamic ports elsewhere. */
  readonly attempt?: number;
}

/** Decides about `service` and `batch` jobs; an evaluation of another type fails with the reason. */
export function schedule(
  view: ClusterView,
  evaluation: Evaluation,
  options: ScheduleOptions,
): SchedulerResult {
  const job = view.job(evaluation.Namespace, evaluation.JobID);
  const type = job?.Type ?? evaluation.Type;
  if (job !== undefined && !job.Stop && type !== 'service' && type !== 'batch') {
    return refused(view, evaluation, job, `no scheduler for jobs of type "${type}"`);
  }
  const allocations = [...view.allocationsOfJob(evaluation.Namespace, evaluation.JobID)];
  const reconciliation = reconcile({
    evaluationId: evaluation.ID,
    job,
    allocations,
    nodeOf: (id) => view.node(id),
    nowMs: options.nowMs,
    isOutdated: job === undefined ? () => true : outdatedTest(view, job),
    splitStaying:
      job === undefined
        ? () => ({ staying: [], leaving: [] })
        : stayingSplit(view, job, allocations),
  });
  const placed =
    job === undefined
      ? new Map<string, GroupPlacement>()
      : placeAll({ view, evaluation, job, allocations, ...options }, reconciliation);
  return assemble(view, evaluation, job, reconciliation, placed, options);
}

function placeAll(
  input: ConstructorParameters<typeof Placer>[0],
  { stops, groups }: Reconciliation,
): ReadonlyMap<string, GroupPlacement> {
  const placer = new Placer(input);
  for (const stop of stops) placer.stop(stop);
  for (const group of groups) for (const stop of group.stops) placer.stop(stop);
  return new Map(
    groups
      .filter((decision) => decision.placements.length > 0)
      .map((decision) => [decision.group.Name, placer.placeGroup(decision)]),
  );
}

function assemble(
  view: ClusterView,
  evaluation: Evaluation,
  job: Job | undefined,
  reconciliation: Reconciliation,
  placed: ReadonlyMap<string, GroupPlacement>,
  { nowMs, ids }: ScheduleOptions,
): SchedulerResult {
  const { groups } = reconciliation;
  // Records are made from entries, for a group may have any name.
  const queued = Object.fromEntries(
    groups.map(({ group }) => [group.Name, placed.get(group.Name)?.queued ?? 0]),
  );
  const failures = Object.fromEntries(
    [...placed].flatMap(([name, { failure }]): [string, PlacementMetrics][] =>
      failure === undefined ? [] : [[name, failure]],
    ),
  );
  const postponed = groups.flatMap((decision) => decision.postponed);
  const later =
    job === undefined
      ? { evaluations: [], marks: [] }
      : postponements(postponed, evaluation, job, nowMs, ids);
  const blocked =
    job !== undefined && Object.keys(failures).length > 0
      ? blockedBy(view, evaluation, job, placed, nowMs, ids)
      : undefined;
  const groupPlacements = [...placed.values()];
  const plan: Plan = {
    ...emptyPlan(view, evaluation, job),
    stops: [
      ...reconciliation.stops,
      ...groups.flatMap((decision) => decision.stops),
      ...groupPlacements.flatMap((one) => one.stops),
      ...later.marks,
    ],
    placements: groupPlacements.flatMap((one) => one.placements),
    inPlaceUpdates: groups.flatMap(({ group, inPlace }) =>
      inPlace.map((one) => updatedInPlace(one, evaluation, job!, group, nowMs)),
    ),
    evaluations: [...later.evaluations, ...(blocked?.evaluations ?? [])],
    annotations: annotationsOf(reconciliation),
    failures,
    queued,
  };
  const isEmpty = plan.stops.length + plan.placements.length + plan.inPlaceUpdates.length === 0;
  return { plan, isEmpty, outcome: { ...complete, ...blocked?.outcome, ...outcomeOf(plan) } };
}

const complete: EvaluationOutcome = {
  status: 'complete',
  statusDescription: '',
  blockedEvaluationId: '',
  failures: null,
  queued: {},
  classEligibility: null,
  escapedComputedClass: false,
};

const outcomeOf = ({ failures, queued }: Plan): Pick<EvaluationOutcome, 'failures' | 'queued'> => ({
  failures: Object.keys(failures).length === 0 ? null : failures,
  queued,
});

const emptyPlan = (view: ClusterView, evaluation: Evaluation, job: Job | undefined): Plan => ({
  evaluationId: evaluation.ID,
  namespace: evaluation.Namespace,
  jobId: evaluation.JobID,
  jobVersion: job?.Version ?? 0,
  priority: evaluation.Priority,
  allAtOnce: job?.AllAtOnce ?? false,
  snapshotIndex: view.index,
  stops: [],
  placements: [],
  inPlaceUpdates: [],
  deployment: null,
  deploymentUpdates: [],
  evaluations: [],
  annotations: {},
  failures: {},
  queued: {},
});

const refused = (
  view: ClusterView,
  evaluation: Evaluation,
  job: Job,
  statusDescription: string,
): SchedulerResult => ({
  plan: emptyPlan(view, evaluation, job),
  isEmpty: true,
  outcome: { ...complete, status: 'failed', statusDescription },
});

function annotationsOf({ groups, stopsByGroup }: Reconciliation): Record<string, DesiredUpdates> {
  return Object.fromEntries([
    ...[...stopsByGroup].map(([name, Stop]) => [name, { ...noUpdates, Stop }] as const),
    ...groups.map(({ group, updates }) => [group.Name, updates] as const),
  ]);
}

interface Blocked {
  readonly evaluations: readonly Proposed<Evaluation>[];
  readonly outcome: Partial<EvaluationOutcome>;
}

/** What is left over waits for room: in an evaluation of its own, or in this one if that waited. */
function blockedBy(
  view: ClusterView,
  evaluation: Evaluation,
  job: Job,
  placed: ReadonlyMap<string, GroupPlacement>,
  nowMs: number,
  ids: Ids,
): Blocked {
  const short = [...placed.values()].filter(({ failure }) => failure !== undefined);
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
  const waiting = followUpEvaluation(id, evaluation, job, nowMs, {
    Status: 'blocked',
    StatusDescription: descriptions.blocked,
    ClassEligibility: outcome.classEligibility,
    EscapedComputedClass: outcome.escapedComputedClass,
    SnapshotIndex: view.index,
  });
  return { evaluations: [waiting], outcome: { ...outcome, blockedEvaluationId: id } };
}

/**
 * The evaluation that goes on when a plan was refused too often. It waits like one for room, and is
 * tried again from time to time. Source: facts §6.1, §6.8.
 */
export const conflictEvaluation = (
  snapshotIndex: number,
  evaluation: Evaluation,
  job: Job,
  { nowMs, ids }: ScheduleOptions,
): Proposed<Evaluation> =>
  followUpEvaluation(ids.uuid(), evaluation, job, nowMs, {
    TriggeredBy: 'max-plan-attempts',
    Status: 'blocked',
    StatusDescription: descriptions.conflicts,
    EscapedComputedClass: true,
    SnapshotIndex: snapshotIndex,
  });
