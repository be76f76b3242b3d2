/**
 * Carries out the requests of a group one after the other: chooses a node, evicts if that is necessary, or
 * tells why no node takes the request. Source: docs/behaviour/scheduling.md#the-scheduler, #scores.
 *
 *  1. A replacement that finds no node leaves its predecessor as it was.
 *  2. A request evicts nothing if some node takes it without evictions.
 */
import { assert } from '../../base/assert.ts';
import type { Ids } from '../../base/ports.ts';
import type { Steps } from '../../base/steps.ts';
import type { AllocatedResources } from '../../model/allocation/allocated-resources.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import type { PlannedPreemption, PlannedStop } from '../../model/plan/plan.ts';
import { newAllocation, sharedFields } from '../build.ts';
import type { PlacementRequest } from '../decision.ts';
import { type Ask, askOf, asksPieces, type Need, needOf } from '../fitting/resources.ts';
import type { Fleet } from '../memory/fleet.ts';
import { nodesOfFailures } from '../reschedule.ts';
import type { JobLocations } from '../scoring/locations.ts';
import type { ClusterView, Proposed } from '../view.ts';
import type { Candidates } from './candidates.ts';
import {
  type EvictionSearch,
  evictionSearch,
  type PlannedEvictions,
  type ScoredEviction,
} from './evictions.ts';
import { measure } from './metrics.ts';
import type { Evictable } from './preempt.ts';

const nobody: ReadonlySet<string> = new Set();
const noIds: readonly string[] = [];

/**
 * The number of allocations of a group after which their ids are neighbours. Not in limits: it decides only about speed.
 * People tell the few allocations of a small group apart by the first digits of their ids.
 */
const firstIds = 16;

/**
 * Observes how requests are carried out, for explanations (`explain/placement.ts`). It changes
 * nothing; an error that it throws ends the work at that moment.
 */
export interface Witness {
  /** Called before each placement, in the order of the plan's placements. */
  readonly chosen?: (moment: Moment, slot: number) => void;
  readonly failed?: (moment: Moment) => void;
}

/** The situation in which a request chooses its node. */
export interface Moment {
  readonly job: Job;
  readonly candidates: Candidates;
  readonly request: PlacementRequest;
  readonly penalized: ReadonlySet<string>;
  /** The search for evictions, when no node is open. */
  readonly search?: EvictionSearch | undefined;
}

/** A request that found no node. */
export interface Unplaced {
  readonly request: PlacementRequest;
  /** The shortage on the request's only node; `''`: no shortage, or any node is allowed. */
  readonly dimension: string;
}

/** The input that the groups of an evaluation share. */
interface PlacingContext {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  /** All allocations of the job. */
  readonly allocations: readonly Allocation[];
  readonly locations: JobLocations;
  readonly evictions: PlannedEvictions;
  readonly fleet: Fleet;
  readonly ids: Ids;
  readonly nowMs: number;
  readonly portStart: number;
  readonly witness?: Witness | undefined;
  /** Nanoseconds of work since an arbitrary start, for the metrics. */
  readonly elapsedNs?: (() => number) | undefined;
}

/** A request that has no node yet. */
interface Pending {
  readonly request: PlacementRequest;
  readonly penalized: ReadonlySet<string>;
  /** The replaced allocation, set aside meanwhile. */
  readonly predecessor: SetAside | undefined;
}

interface SetAside {
  readonly slot: number;
  /** After the placement: ends the lending. */
  readonly release: () => void;
  /** After a failure: puts the predecessor back. */
  readonly restore: () => void;
}

/** Places the requests of a group. */
export class GroupPlacer {
  readonly placements: Proposed<Allocation>[] = [];
  readonly stops: PlannedStop[] = [];
  readonly preemptions: PlannedPreemption[] = [];
  readonly unplaced: Unplaced[] = [];
  failure: PlacementMetrics | undefined;
  failures = 0;
  readonly #context: PlacingContext;
  readonly #candidates: Candidates;
  readonly #job: Job;
  readonly #ask: Ask;
  /** The need of an allocation that holds no pieces; `undefined`: the group asks for pieces. */
  readonly #plainNeed: Need | undefined;
  /** The fields that all its allocations share. */
  readonly #shared: Proposed<Allocation>;
  readonly #startNs: number;
  /** The job's allocations by id. */
  #allocationsById: ReadonlyMap<string, Allocation> | undefined;
  /** Shared by all placements without evictions. */
  #metrics: PlacementMetrics | undefined;
  /** Shared by placements with evictions that may go to any node. */
  #preemptingMetrics: PlacementMetrics | undefined;
  /** Made on the first request without an open node. */
  #search: EvictionSearch | undefined;

  constructor(context: PlacingContext, job: Job, candidates: Candidates, startNs: number) {
    this.#context = context;
    this.#candidates = candidates;
    this.#job = job;
    this.#ask = askOf(candidates.group);
    this.#plainNeed = asksPieces(this.#ask) ? undefined : needOf(this.#ask.template);
    const { evaluation, nowMs } = context;
    this.#shared = sharedFields({ evaluation, job, group: candidates.group, nowMs });
    this.#startNs = startNs;
  }

  /** Places the request, or returns the steps of placing it with evictions. */
  carryOut(request: PlacementRequest): Steps<void> | undefined {
    // After a failure all later requests fail too, unless they may use their predecessor's place.
    const isFree = request.nodeId === undefined && !this.#replacesCounted(request);
    if (this.failure !== undefined && isFree) {
      this.failures++;
      this.unplaced.push({ request, dimension: '' });
      return undefined;
    }
    const candidates = this.#candidates;
    const predecessor = this.#setAsidePredecessor(request);
    const penalized = request.kind === 'reschedule' ? nodesOfFailures(request.previous!) : nobody;
    const slot = chooseSlot(candidates, request, penalized);
    const pending: Pending = { request, penalized, predecessor };
    if (slot < 0) {
      const { view, evictions } = this.#context;
      this.#search ??= evictionSearch(view, this.#job, candidates, evictions);
      if (this.#search !== undefined) return this.#placeByEviction(pending, this.#search);
      this.#failRequest(pending);
      return undefined;
    }
    this.#context.witness?.chosen?.({ job: this.#job, candidates, request, penalized }, slot);
    this.#metrics ??= this.#measureRequest(penalized);
    this.#placeRequest(pending, slot, this.#metrics);
    return undefined;
  }

  #failRequest({ request, penalized, predecessor }: Pending): void {
    const candidates = this.#candidates;
    const search = this.#search;
    this.#context.witness?.failed?.({ job: this.#job, candidates, request, penalized, search });
    this.failure ??= this.#measureRequest(penalized);
    this.failures++;
    this.unplaced.push({ request, dimension: shortOn(candidates, request.nodeId) });
    predecessor?.restore();
  }

  #placeRequest(
    { request, predecessor }: Pending,
    slot: number,
    metrics: PlacementMetrics,
    victims: readonly Evictable[] = [],
  ): void {
    const placement = this.#makeAllocation(request, slot, metrics, victims);
    this.placements.push(placement);
    for (const { allocation } of victims) {
      const { ID: allocationId, Namespace: namespace, NodeID: nodeId } = allocation;
      this.preemptions.push({ allocationId, namespace, nodeId, byAllocationId: placement.ID });
    }
    this.#search?.roomChanged(slot);
    predecessor?.release();
    if (request.stop !== undefined) this.stops.push(request.stop);
  }

  /** Places the request by evicting others, if some evictions suffice. */
  *#placeByEviction(pending: Pending, search: EvictionSearch): Steps<void> {
    const { request, penalized, predecessor } = pending;
    const candidates = this.#candidates;
    const { scoredNodesReported } = limits.scheduler;
    const only = request.nodeId === undefined ? undefined : candidates.slotOf(request.nodeId);
    const home = previousSlotOf(candidates, request);
    const count = this.#preemptingMetrics === undefined ? scoredNodesReported : 1;
    const unsettled = predecessor?.slot;
    const ways = yield* search.bestEvictions({
      onlySlot: only,
      homeSlot: home,
      provisionalSlot: unsettled,
      penalized,
      count,
    });
    const [best] = ways;
    if (best === undefined) {
      this.#failRequest(pending);
      return;
    }
    const { slot, victims } = best.eviction;
    const moment: Moment = { job: this.#job, candidates, request, penalized, search };
    this.#context.witness?.chosen?.(moment, slot);
    const isOfAll = slot !== only && slot !== home;
    const shared = isOfAll ? this.#preemptingMetrics : undefined;
    const metrics = shared ?? this.#measurePreempting(penalized, ways);
    if (isOfAll) this.#preemptingMetrics = metrics;
    const { fleet, portStart } = this.#context;
    const planned = fleet.plannedAt(slot, portStart);
    for (const { allocation } of victims) planned.evict(allocation.AllocatedResources);
    search.noteEvicted(best.eviction);
    this.#placeRequest(pending, slot, metrics, victims);
  }

  #measurePreempting(
    penalized: ReadonlySet<string>,
    ways: readonly ScoredEviction[],
  ): PlacementMetrics {
    const ScoreMetaData = ways.map(({ eviction, parts, score }) => ({
      NodeID: this.#candidates.nodes[eviction.slot]!.ID,
      Scores: { ...parts },
      NormScore: score,
    }));
    return { ...this.#measureRequest(penalized), ScoreMetaData };
  }

  /** Metrics with the time since the group's turn began. */
  #measureRequest(penalized: ReadonlySet<string>): PlacementMetrics {
    const metrics = measure(this.#job, this.#candidates.group, this.#candidates, penalized);
    const { elapsedNs } = this.#context;
    return elapsedNs === undefined
      ? metrics
      : { ...metrics, AllocationTime: elapsedNs() - this.#startNs };
  }

  #makeAllocation(
    request: PlacementRequest,
    slot: number,
    metrics: PlacementMetrics,
    victims: readonly Evictable[],
  ): Proposed<Allocation> {
    const { fleet, locations, ids, nowMs } = this.#context;
    const resources = this.#takeRoom(slot);
    const allocation = newAllocation(this.#shared, {
      id: ids.uuid(this.#neighbour),
      group: this.#candidates.group,
      request,
      node: fleet.nodes[slot]!,
      resources,
      metrics,
      nowMs,
      preempted: victims.length === 0 ? noIds : victims.map(({ allocation: { ID } }) => ID),
    });
    locations.place(allocation);
    this.#candidates.notePlaced(slot);
    return allocation;
  }

  /** Takes the resources of an allocation on the slot. */
  #takeRoom(slot: number): AllocatedResources {
    const { fleet, portStart } = this.#context;
    if (this.#plainNeed !== undefined && fleet.plannedIfAny(slot) === undefined) {
      assert(!this.#candidates.sheet.isFull(slot), 'only a slot that fits is chosen');
      fleet.place(slot, this.#plainNeed);
      return this.#ask.template;
    }
    const planned = fleet.plannedAt(slot, portStart);
    const fit = planned.fit(this.#ask);
    assert(fit.fits, 'only a slot that fits is chosen');
    planned.add(fit.resources);
    fleet.setUsed(slot, planned.used);
    return fit.resources;
  }

  /** The id after which that of the next allocation may come. */
  get #neighbour(): string | undefined {
    const { placements } = this;
    return placements.length < firstIds ? undefined : placements.at(-1)!.ID;
  }

  /** Whether the request's predecessor counts until replaced: it still runs, or may come back. */
  #replacesCounted(request: PlacementRequest): boolean {
    const { kind, previous } = request;
    if (replacesRunning(request)) return true;
    return kind === 'lost' && previous !== undefined && this.#context.locations.has(previous.ID);
  }

  /** Lets the request use the place of its predecessor until it is placed or has failed. */
  #setAsidePredecessor(request: PlacementRequest): SetAside | undefined {
    const { previous } = request;
    if (previous === undefined || !this.#replacesCounted(request)) return undefined;
    const { fleet, locations, portStart } = this.#context;
    const slot = fleet.slotOf(previous.NodeID);
    if (slot < 0) return undefined;
    const planned = fleet.plannedAt(slot, portStart);
    const isYielding =
      replacesRunning(request) && holdsResources(previous) && !this.#waitsForPredecessor(previous);
    if (isYielding) planned.lend(previous.AllocatedResources);
    const located = locations.remove(previous.ID);
    if (located !== undefined) this.#candidates.noteRemoved(slot);
    else this.#candidates.refreshSlot(slot);
    const leave = () => {
      planned.endLending();
      this.#candidates.refreshSlot(slot);
    };
    const stay = () => {
      leave();
      if (located === undefined) return;
      locations.add(located);
      this.#candidates.notePlaced(slot);
    };
    return { slot, release: leave, restore: stay };
  }

  /**
   * Whether the allocation still waits on its node for its own predecessor, so it holds nothing to
   * lend.
   */
  #waitsForPredecessor({ NodeID, PreviousAllocation }: Allocation): boolean {
    if (PreviousAllocation === '') return false;
    this.#allocationsById ??= new Map(this.#context.allocations.map((one) => [one.ID, one]));
    const predecessor = this.#allocationsById.get(PreviousAllocation);
    return predecessor?.NodeID === NodeID && holdsResources(predecessor);
  }
}

function shortOn(candidates: Candidates, nodeId: string | undefined): string {
  const slot = nodeId === undefined ? -1 : candidates.slotOf(nodeId);
  return slot < 0 || candidates.distinctAt(slot) !== undefined
    ? ''
    : candidates.sheet.dimensionAt(slot);
}

/** Whether the request replaces an allocation that may still run. */
const replacesRunning = ({ kind }: PlacementRequest): boolean =>
  kind === 'update' || kind === 'migrate';

function chooseSlot(
  candidates: Candidates,
  request: PlacementRequest,
  penalized: ReadonlySet<string>,
): number {
  const { nodeId } = request;
  const isOpen = (slot: number) => slot >= 0 && candidates.isOpen(slot);
  if (nodeId !== undefined) {
    const slot = candidates.slotOf(nodeId);
    return isOpen(slot) ? slot : -1;
  }
  const home = previousSlotOf(candidates, request);
  return home !== undefined && isOpen(home) ? home : candidates.best(penalized);
}

/** The predecessor's slot, preferred by a group that keeps its disk. */
function previousSlotOf(
  candidates: Candidates,
  { previous }: PlacementRequest,
): number | undefined {
  const { Sticky, Migrate } = candidates.group.EphemeralDisk;
  return previous !== undefined && (Sticky || Migrate)
    ? candidates.slotOf(previous.NodeID)
    : undefined;
}
