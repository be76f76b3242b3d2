/**
 * Turns an evaluation into a plan. Pure: the same view, evaluation, instant and ids give the same plan.
 * Source: docs/behaviour/scheduling.md#the-scheduler, docs/behaviour/evaluations.md#attempts.
 */
import type { Ids } from '../base/ports.ts';
import { collected, drained, each, type Steps } from '../base/steps.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import type { Evaluation } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import { runsEverywhere } from '../model/job/job-rules.ts';
import { assemble, type Decided } from './assemble.ts';
import { followUpEvaluation } from './build.ts';
import type { ReconcileContext, Reconciliation, StayingSplit } from './decision.ts';
import { SchedulerMemory, type Session } from './memory/memory.ts';
import { type GroupPlacement, Placer } from './placing/place.ts';
import type { Witness } from './placing/place-group.ts';
import { reconcile } from './reconcile/reconcile.ts';
import { reconcileEverywhere } from './system/system.ts';
import { versionTests } from './version-tests.ts';
import { type ClusterView, descriptions, type Proposed, type SchedulerResult } from './view.ts';

export interface ScheduleOptions {
  readonly nowMs: number;
  readonly ids: Ids;
  /** Counts from 1; a further attempt looks for dynamic ports elsewhere. */
  readonly attempt?: number;
  /** A session of a kept memory; without it the cluster is read from scratch. */
  readonly session?: Session;
  readonly witness?: Witness;
  /** As in `PlaceInput`, for the metrics. */
  readonly elapsedNs?: () => number;
}

/** Decides without pausing. */
export const schedule = (
  view: ClusterView,
  evaluation: Evaluation,
  options: ScheduleOptions,
): SchedulerResult => drained(scheduleSteps(view, evaluation, options));

/** Decides in steps, between which other work may run. The view must not change. */
export function* scheduleSteps(
  view: ClusterView,
  evaluation: Evaluation,
  options: ScheduleOptions,
): Steps<SchedulerResult> {
  const { Namespace, JobID } = evaluation;
  const job = view.job(Namespace, JobID);
  const allocations = yield* collected(view.allocationsOfJob(Namespace, JobID));
  const context: ReconcileContext = {
    evaluationId: evaluation.ID,
    isOver: (id) => view.isOver(Namespace, id),
    triggeredBy: evaluation.TriggeredBy,
    job,
    allocations,
    deployments: [...view.deploymentsOfJob(Namespace, JobID)],
    nodeOf: (id) => view.node(id),
    nowMs: options.nowMs,
    newId: () => options.ids.uuid(),
    versions: job === undefined ? nothingRuns : versionTests(view, job, allocations),
  };
  const session = options.session ?? new SchedulerMemory().begin(view);
  const reconciliation =
    job !== undefined && runsEverywhere(job)
      ? yield* reconcileEverywhere(context, session)
      : yield* reconcile(context);
  yield;
  const placed =
    job === undefined
      ? nothingPlaced
      : yield* placeAll(
          yield* Placer.begin({ view, evaluation, job, allocations, ...options, session }),
          reconciliation,
        );
  const { nowMs, ids } = options;
  return yield* assemble({ view, evaluation, job, reconciliation, placed, nowMs, ids });
}

const nothingPlaced: Decided['placed'] = new Map();

/** For a job that no longer exists. */
const nothingRuns = {
  isOutdated: () => true,
  isScaledDown: () => false,
  versionOf: (_: Allocation): Job | undefined => undefined,
  *splitStaying(): Steps<StayingSplit> {
    yield;
    return { staying: [], leaving: [] };
  },
};

function* placeAll(
  placer: Placer,
  { stops, groups }: Reconciliation,
): Steps<ReadonlyMap<string, readonly GroupPlacement[]>> {
  yield* each(stops, (stop) => placer.stop(stop));
  for (const group of groups) {
    yield* each(group.stops, (stop) => placer.stop(stop));
    for (const allocationId of group.replacedAway)
      placer.stop({ allocationId, desiredStatus: 'stop' });
  }
  const placed = new Map<string, readonly GroupPlacement[]>();
  for (const decision of groups) {
    const parts: GroupPlacement[] = [];
    for (const order of [...decision.earlier, decision]) {
      if (order.placements.length > 0) parts.push(yield* placer.placeGroupSteps(order));
    }
    if (parts.length > 0) placed.set(decision.group.Name, parts);
  }
  return placed;
}

/**
 * The evaluation that takes over after a plan was refused too often. It is blocked, like an evaluation that
 * waits for room, and runs again from time to time. Source: docs/behaviour/evaluations.md#attempts.
 */
export const conflictEvaluation = (
  snapshotIndex: number,
  evaluation: Evaluation,
  job: Job,
  { nowMs, ids }: Pick<ScheduleOptions, 'nowMs' | 'ids'>,
): Proposed<Evaluation> =>
  followUpEvaluation(
    { id: ids.uuid(), evaluation, job, nowMs },
    {
      TriggeredBy: 'max-plan-attempts',
      Status: 'blocked',
      StatusDescription: descriptions.conflicts,
      EscapedComputedClass: true,
      SnapshotIndex: snapshotIndex,
    },
  );
