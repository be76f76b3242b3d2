/**
 * Carries out a reconciliation on the nodes: who gets which node, and what is left over.
 * Source: DESIGN §6, facts/scheduler.md §6.3 steps 16 to 18, §6.5, §6.9.
 *
 * 1. Rooms show the snapshot plus what the plan places, presence also less what it stops: what is
 *    stopped no longer counts for its job, but its node has yet to end it.
 * 2. A replacement that finds no node leaves what it would have replaced as it was.
 * 3. Nobody has to make way for a request that finds a node without that.
 */
import { assert } from '../base/assert.ts';
import type { Ids } from '../base/ports.ts';
import { drained, type Steps } from '../base/steps.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { holdsResources } from '../model/allocation/allocation-rules.ts';
import type { PlacementMetrics } from '../model/allocation/placement-metrics.ts';
import type { Evaluation } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import { limits } from '../model/limits.ts';
import type { PlannedPreemption, PlannedStop } from '../model/plan/plan.ts';
import { newAllocation } from './build.ts';
import type { GroupDecision, PlacementRequest } from './decision.ts';
import { EvictionSearch, Evictions, type ScoredEviction } from './evictions.ts';
import { escapesClass } from './feasibility.ts';
import { Field } from './field.ts';
import type { Fleet } from './fleet.ts';
import { SchedulerMemory, type Session } from './memory.ts';
import { measure } from './metrics.ts';
import type { Candidate } from './preempt.ts';
import { JobPresence } from './presence.ts';
import { nodesOfFailures } from './reschedule.ts';
import { type Ask, askOf } from './resources.ts';
import type { ClusterView, Proposed } from './view.ts';

export interface PlaceInput {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly job: Job;
  readonly allocations: readonly Allocation[];
  readonly ids: Ids;
  readonly nowMs: number;
  readonly attempt?: number;
  /** Of a memory that is kept; without one all is looked at anew. */
  readonly session?: Session;
  readonly witness?: Witness;
  /** Nanoseconds of work since an arbitrary start; without it nobody measures. */
  readonly elapsedNs?: () => number;
}

/**
 * Is told how requests are carried out, for explanations (`explain-decision.ts`). It changes nothing;
 * what it throws ends the work, and leaves the field as it was at that moment.
 */
export interface Witness {
  /** What is placed next, in the order of the plan's placements. */
  readonly chosen?: (moment: Moment, slot: number) => void;
  readonly failed?: (moment: Moment) => void;
}

/** What a request finds. */
export interface Moment {
  readonly job: Job;
  readonly field: Field;
  readonly request: PlacementRequest;
  readonly penalized: ReadonlySet<string>;
  /** Where others would have to make way, when nobody may have a node as it is. */
  readonly search?: EvictionSearch | undefined;
}

/** What is asked for a group: the part of a decision that is about nodes. */
export type GroupWish = Pick<GroupDecision, 'job' | 'group' | 'placements'>;

/** A request that found no node. */
export interface Unplaced {
  readonly request: PlacementRequest;
  /** What is short on the one node that it may be placed on; `''`: nothing, or it may be any. */
  readonly dimension: string;
}

/** What became of a group's requests. */
export interface GroupPlacement {
  readonly placements: readonly Proposed<Allocation>[];
  /** Of those replaced. */
  readonly stops: readonly PlannedStop[];
  readonly preemptions: readonly PlannedPreemption[];
  /** Of the first request that found no node. */
  readonly failure: PlacementMetrics | undefined;
  readonly queued: number;
  readonly unplaced: readonly Unplaced[];
  readonly classes: ReadonlyMap<string, boolean>;
  readonly escaped: boolean;
}

const nobody: ReadonlySet<string> = new Set();
const none: ReadonlyMap<string, boolean> = new Map();

/** Requests that are carried out before others get their turn. */
const requestsPerStep = 64;

/** The work on one evaluation's plan; it ends with the evaluation. */
export class Placer {
  readonly #input: PlaceInput;
  readonly #session: Session;
  readonly #presence: JobPresence;
  readonly #evictions: Evictions;
  readonly #portStart: number;

  constructor(input: PlaceInput) {
    this.#input = input;
    this.#session = input.session ?? new SchedulerMemory().begin(input.view);
    this.#presence = new JobPresence((id) => input.view.node(id), input.allocations);
    this.#evictions = new Evictions(input.view);
    this.#portStart = hash(`${input.evaluation.ID} ${input.attempt ?? 1}`);
  }

  /** Takes out what the plan stops in any case. Before the first `placeGroup`. */
  stop({ allocationId, desiredStatus }: Pick<PlannedStop, 'allocationId' | 'desiredStatus'>): void {
    if (desiredStatus !== 'run') this.#presence.remove(allocationId);
  }

  placeGroup(wish: GroupWish): GroupPlacement {
    return drained(this.placeGroupSteps(wish));
  }

  *placeGroupSteps({ job, group, placements }: GroupWish): Steps<GroupPlacement> {
    const startNs = this.#input.elapsedNs?.() ?? 0;
    const fleet = yield* this.#session.fleet();
    const sheet = yield* this.#session.sheet(job, group);
    const field = new Field({ job, group, sheet, presence: this.#presence });
    const work = new GroupWork(this.#input, this.#presence, fleet, field, job, {
      ...{ evictions: this.#evictions, portStart: this.#portStart, startNs },
    });
    try {
      for (const [position, request] of placements.entries()) {
        if (position > 0 && position % requestsPerStep === 0) yield;
        const more = work.carryOut(request);
        if (more !== undefined) yield* more;
      }
    } finally {
      field.end();
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

interface GroupWorkSettings {
  readonly evictions: Evictions;
  readonly portStart: number;
  readonly startNs: number;
}

/** A request for which a node is sought. */
interface Pending {
  readonly request: PlacementRequest;
  readonly penalized: ReadonlySet<string>;
  /** What it replaces, which stands aside meanwhile. */
  readonly predecessor: StoodAside | undefined;
}

interface StoodAside {
  readonly slot: number;
  /** It makes way, or goes on as before. */
  readonly leave: () => void;
  readonly stay: () => void;
}

/** The requests of one group, one after the other. */
class GroupWork {
  readonly placements: Proposed<Allocation>[] = [];
  readonly stops: PlannedStop[] = [];
  readonly preemptions: PlannedPreemption[] = [];
  readonly unplaced: Unplaced[] = [];
  failure: PlacementMetrics | undefined;
  failures = 0;
  readonly #input: PlaceInput;
  readonly #presence: JobPresence;
  readonly #fleet: Fleet;
  readonly #field: Field;
  readonly #job: Job;
  readonly #group: GroupWish['group'];
  readonly #ask: Ask;
  readonly #evictions: Evictions;
  readonly #portStart: number;
  readonly #startNs: number;
  /** The job's allocations by id. */
  #known: ReadonlyMap<string, Allocation> | undefined;
  /** Shared by all that are placed. */
  #metrics: PlacementMetrics | undefined;
  /** The same of those that others make way for, wherever. */
  #preemptingMetrics: PlacementMetrics | undefined;
  /** Made when somebody first has to make way. */
  #search: EvictionSearch | undefined;

  constructor(
    input: PlaceInput,
    presence: JobPresence,
    fleet: Fleet,
    field: Field,
    job: Job,
    { evictions, portStart, startNs }: GroupWorkSettings,
  ) {
    this.#input = input;
    this.#presence = presence;
    this.#fleet = fleet;
    this.#field = field;
    this.#job = job;
    this.#group = field.group;
    this.#ask = askOf(field.group);
    this.#evictions = evictions;
    this.#portStart = portStart;
    this.#startNs = startNs;
  }

  /** Returns what is left to do when the request finds no node as it is. */
  carryOut(request: PlacementRequest): Steps<void> | undefined {
    // Others than those that may have their predecessor's place fail just as the first one did.
    const isFree = request.nodeId === undefined && !succeeds(request);
    if (this.failure !== undefined && isFree) {
      this.failures++;
      this.unplaced.push({ request, dimension: '' });
      return undefined;
    }
    const field = this.#field;
    const predecessor = this.#standAside(request);
    const penalized = request.kind === 'reschedule' ? nodesOfFailures(request.previous!) : nobody;
    const slot = chooseSlot(field, request, penalized);
    const pending: Pending = { request, penalized, predecessor };
    if (slot < 0) {
      if (this.#mayPreempt) return this.#preempt(pending);
      this.#fail(pending);
      return undefined;
    }
    this.#input.witness?.chosen?.({ job: this.#job, field, request, penalized }, slot);
    this.#metrics ??= this.#measure(penalized);
    this.#place(pending, slot, this.#metrics);
    return undefined;
  }

  get #mayPreempt(): boolean {
    return this.#input.view.configuration.preemption[this.#job.Type];
  }

  #fail({ request, penalized, predecessor }: Pending): void {
    const field = this.#field;
    const search = this.#search;
    this.#input.witness?.failed?.({ job: this.#job, field, request, penalized, search });
    this.failure ??= this.#measure(penalized);
    this.failures++;
    this.unplaced.push({ request, dimension: shortOn(field, request.nodeId) });
    predecessor?.stay();
  }

  #place(
    { request, predecessor }: Pending,
    slot: number,
    metrics: PlacementMetrics,
    victims: readonly Candidate[] = [],
  ): void {
    const placement = this.#take(request, slot, metrics, victims);
    this.placements.push(placement);
    for (const { allocation } of victims) {
      const { ID: allocationId, Namespace: namespace, NodeID: nodeId } = allocation;
      this.preemptions.push({ allocationId, namespace, nodeId, byAllocationId: placement.ID });
    }
    this.#search?.changed(slot);
    predecessor?.leave();
    if (request.stop !== undefined) this.stops.push(request.stop);
  }

  /** Others make way, where that helps. */
  *#preempt(pending: Pending): Steps<void> {
    const { request, penalized } = pending;
    const field = this.#field;
    this.#search ??= new EvictionSearch({
      ...{ view: this.#input.view, job: this.#job, field, ask: this.#ask },
      evictions: this.#evictions,
    });
    const search = this.#search;
    const [best, ...others] = yield* this.#waysFor(pending, search);
    if (best === undefined) {
      this.#fail(pending);
      return;
    }
    const { slot, victims } = best.eviction;
    const moment: Moment = { job: this.#job, field, request, penalized, search };
    this.#input.witness?.chosen?.(moment, slot);
    const metrics = this.#measurePreempting(pending, [best, ...others]);
    const room = this.#fleet.roomAt(slot, this.#portStart);
    for (const { allocation } of victims) room.evict(allocation.AllocatedResources);
    search.made(best.eviction);
    this.#place(pending, slot, metrics, victims);
  }

  /** The best first; more than one only where metrics are still to be had. */
  *#waysFor(
    { request: { nodeId, previous }, penalized, predecessor }: Pending,
    search: EvictionSearch,
  ): Steps<readonly ScoredEviction[]> {
    const field = this.#field;
    const onOne = (slot: number) => (slot < 0 ? undefined : search.at(slot, penalized));
    if (nodeId !== undefined) {
      const own = onOne(field.slotOf(nodeId));
      return own === undefined ? [] : [own];
    }
    const home = keepsDisk(field) && previous ? onOne(field.slotOf(previous.NodeID)) : undefined;
    if (home !== undefined) return [home];
    const count = this.#preemptingMetrics === undefined ? limits.scheduler.scoredNodesReported : 1;
    return yield* search.ranking(count, penalized, predecessor?.slot ?? -1);
  }

  #measurePreempting(
    { request, penalized }: Pending,
    ways: readonly ScoredEviction[],
  ): PlacementMetrics {
    if (request.nodeId === undefined && this.#preemptingMetrics !== undefined) {
      return this.#preemptingMetrics;
    }
    const ScoreMetaData = ways.map(({ eviction, parts, score }) => ({
      NodeID: this.#field.nodes[eviction.slot]!.ID,
      Scores: { ...parts },
      NormScore: score,
    }));
    const metrics = { ...this.#measure(penalized), ScoreMetaData };
    if (request.nodeId === undefined) this.#preemptingMetrics = metrics;
    return metrics;
  }

  /** The time is that from the beginning of the group's turn. */
  #measure(penalized: ReadonlySet<string>): PlacementMetrics {
    const metrics = measure(this.#job, this.#group, this.#field, penalized);
    const { elapsedNs } = this.#input;
    return elapsedNs === undefined
      ? metrics
      : { ...metrics, AllocationTime: elapsedNs() - this.#startNs };
  }

  #take(
    request: PlacementRequest,
    slot: number,
    metrics: PlacementMetrics,
    victims: readonly Candidate[],
  ): Proposed<Allocation> {
    const { evaluation, ids, nowMs } = this.#input;
    const group = this.#group;
    const node = this.#fleet.nodes[slot]!;
    const room = this.#fleet.roomAt(slot, this.#portStart);
    const fit = room.fit(this.#ask);
    assert(fit.fits, 'only a slot that fits is chosen');
    const { resources } = fit;
    const id = ids.uuid();
    room.add(resources);
    this.#fleet.follow(slot, room.used);
    this.#presence.add({ ID: id, TaskGroup: group.Name, NodeID: node.ID });
    this.#field.placed(slot);
    const job = this.#job;
    return newAllocation({
      id,
      evaluation,
      job,
      group,
      request,
      node,
      resources,
      metrics,
      nowMs,
      preempted: victims.map(({ allocation }) => allocation.ID),
    });
  }

  /** Lets the request have the place of what it replaces, until it is clear what becomes of it. */
  #standAside(request: PlacementRequest): StoodAside | undefined {
    const { previous } = request;
    if (previous === undefined || !succeeds(request)) return undefined;
    const slot = this.#fleet.slotOf(previous.NodeID);
    if (slot < 0) return undefined;
    const room = this.#fleet.roomAt(slot, this.#portStart);
    if (holdsResources(previous) && !this.#waits(previous)) room.yield(previous.AllocatedResources);
    const located = this.#presence.remove(previous.ID);
    if (located !== undefined) this.#field.removed(slot);
    else this.#field.refresh(slot);
    const leave = () => {
      room.resume();
      this.#field.refresh(slot);
    };
    const stay = () => {
      leave();
      if (located === undefined) return;
      this.#presence.add(located);
      this.#field.placed(slot);
    };
    return { slot, leave, stay };
  }

  /** Whether it still waits for its own predecessor there, and so has nothing to hand on. */
  #waits({ NodeID, PreviousAllocation }: Allocation): boolean {
    if (PreviousAllocation === '') return false;
    this.#known ??= new Map(this.#input.allocations.map((one) => [one.ID, one]));
    const predecessor = this.#known.get(PreviousAllocation);
    return predecessor?.NodeID === NodeID && holdsResources(predecessor);
  }
}

function shortOn(field: Field, nodeId: string | undefined): string {
  const slot = nodeId === undefined ? -1 : field.slotOf(nodeId);
  return slot < 0 || field.distinctAt(slot) !== undefined ? '' : field.sheet.dimensionAt(slot);
}

const keepsDisk = ({ group: { EphemeralDisk } }: Field): boolean =>
  EphemeralDisk.Sticky || EphemeralDisk.Migrate;

/** Whether it takes the place of one that may still run. */
const succeeds = ({ kind }: PlacementRequest): boolean => kind === 'update' || kind === 'migrate';

/** A group whose disk is to be kept goes back to its node whenever it can. */
function chooseSlot(
  field: Field,
  { previous, nodeId }: PlacementRequest,
  penalized: ReadonlySet<string>,
): number {
  if (nodeId !== undefined) {
    const slot = field.slotOf(nodeId);
    return slot >= 0 && field.isOpen(slot) ? slot : -1;
  }
  if (previous !== undefined && keepsDisk(field)) {
    const slot = field.slotOf(previous.NodeID);
    if (slot >= 0 && field.isOpen(slot)) return slot;
  }
  return field.best(penalized);
}

/** FNV-1a: spreads evaluations over the dynamic ports. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let position = 0; position < text.length; position++) {
    value = Math.imul(value ^ text.charCodeAt(position), 0x01000193);
  }
  return value >>> 0;
}
