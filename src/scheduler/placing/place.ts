/**
 * Places the requests of a reconciliation on nodes, and tells which requests stay unplaced.
 * Source: docs/behaviour/scheduling.md#the-scheduler, #reconciliation, #scores.
 *
 *  1. A planned node counts the plan's placements, and still counts its stops: the node has yet to end the
 *     allocation. The job's locations no longer count a stopped allocation.
 *  2. An allocation evicted for a group is gone for all groups.
 */
import type { Ids } from '../../base/ports.ts';
import { drained, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import type { PlannedPreemption, PlannedStop } from '../../model/plan/plan.ts';
import type { GroupDecision } from '../decision.ts';
import { escapesClass } from '../fitting/feasibility.ts';
import { SchedulerMemory, type Session } from '../memory/memory.ts';
import { JobLocations } from '../scoring/locations.ts';
import type { ClusterView, Proposed } from '../view.ts';
import { Candidates } from './candidates.ts';
import { PlannedEvictions } from './evictions.ts';
import { GroupPlacer, type Unplaced, type Witness } from './place-group.ts';

export interface PlaceInput {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly job: Job;
  readonly allocations: readonly Allocation[];
  readonly ids: Ids;
  readonly nowMs: number;
  readonly attempt?: number;
  /** A session of a kept memory; without it the cluster is read from scratch. */
  readonly session?: Session;
  readonly witness?: Witness;
  /** Nanoseconds of work since an arbitrary start, for the metrics. */
  readonly elapsedNs?: () => number;
}

/** The part of a group's decision that is about placing. */
export type GroupRequests = Pick<GroupDecision, 'job' | 'group' | 'placements'>;

/** The result of a group's requests. */
export interface GroupPlacement {
  readonly placements: readonly Proposed<Allocation>[];
  /** Stops of the replaced allocations. */
  readonly stops: readonly PlannedStop[];
  readonly preemptions: readonly PlannedPreemption[];
  /** The metrics of the first request that found no node. */
  readonly failure: PlacementMetrics | undefined;
  readonly queued: number;
  readonly unplaced: readonly Unplaced[];
  readonly classes: ReadonlyMap<string, boolean>;
  readonly escaped: boolean;
}

const none: ReadonlyMap<string, boolean> = new Map();

/** Requests placed in a step. */
const requestsPerStep = 4;

/** Places the groups of an evaluation. */
export class Placer {
  readonly #input: PlaceInput;
  readonly #session: Session;
  readonly #locations: JobLocations;
  readonly #evictions: PlannedEvictions;
  readonly #portStart: number;

  private constructor(input: PlaceInput, locations: JobLocations) {
    this.#input = input;
    this.#session = input.session ?? new SchedulerMemory().begin(input.view);
    this.#locations = locations;
    this.#evictions = new PlannedEvictions(input.view);
    this.#portStart = hash(`${input.evaluation.ID} ${input.attempt ?? 1}`);
  }

  static *begin(input: PlaceInput): Steps<Placer> {
    const locations = yield* JobLocations.of((id) => input.view.node(id), input.allocations);
    return new Placer(input, locations);
  }

  /** Removes an allocation that the plan stops in any case. Call before the first `placeGroup`. */
  stop({ allocationId, desiredStatus }: Pick<PlannedStop, 'allocationId' | 'desiredStatus'>): void {
    if (desiredStatus !== 'run') this.#locations.remove(allocationId);
  }

  placeGroup(wish: GroupRequests): GroupPlacement {
    return drained(this.placeGroupSteps(wish));
  }

  *placeGroupSteps({ job, group, placements }: GroupRequests): Steps<GroupPlacement> {
    const { view, evaluation, allocations, ids, nowMs, witness, elapsedNs } = this.#input;
    const startNs = elapsedNs?.() ?? 0;
    const fleet = yield* this.#session.fleet();
    const sheet = yield* this.#session.sheet(job, group);
    const candidates = yield* Candidates.of({ job, group, sheet, locations: this.#locations });
    const context = {
      view,
      evaluation,
      allocations,
      ids,
      nowMs,
      witness,
      elapsedNs,
      fleet,
      locations: this.#locations,
      evictions: this.#evictions,
      portStart: this.#portStart,
    };
    const work = new GroupPlacer(context, job, candidates, startNs);
    try {
      for (let position = 0; position < placements.length; position++) {
        if (position > 0 && position % requestsPerStep === 0) yield;
        const more = work.carryOut(placements[position]!);
        if (more !== undefined) yield* more;
      }
      yield* candidates.restoreSheetSteps();
    } finally {
      candidates.restoreSheet();
    }
    const { failure, failures } = work;
    return {
      placements: work.placements,
      stops: work.stops,
      preemptions: work.preemptions,
      failure: failure && { ...failure, CoalescedFailures: failures - 1 },
      queued: failures,
      unplaced: work.unplaced,
      classes: failure === undefined ? none : sheet.classVerdicts(),
      escaped: escapesClass(sheet.shape.rules),
    };
  }
}

/** FNV-1a, to spread evaluations over the dynamic ports. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let position = 0; position < text.length; position++) {
    value = Math.imul(value ^ text.charCodeAt(position), 0x01000193);
  }
  return value >>> 0;
}
