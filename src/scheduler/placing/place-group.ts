/**
 * The requests of one group, carried out one after the other: which node each gets, who has to make
 * way for it, or why it gets none. Source: docs/behaviour/scheduling.md#the-scheduler, #scores.
 *
 * 1. A replacement that finds no node leaves what it would have replaced as it was.
 * 2. Nobody has to make way for a request that finds a node without that.
 */
import { assert } from '../../base/assert.ts';
import type { Ids } from '../../base/ports.ts';
import type { Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { holdsResources } from '../../model/allocation/allocation-rules.ts';
import type { PlacementMetrics } from '../../model/allocation/placement-metrics.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import type { PlannedPreemption, PlannedStop } from '../../model/plan/plan.ts';
import { newAllocation } from '../build.ts';
import type { PlacementRequest } from '../decision.ts';
import { type Ask, askOf } from '../fitting/resources.ts';
import type { Fleet } from '../memory/fleet.ts';
import { nodesOfFailures } from '../reschedule.ts';
import type { JobPresence } from '../scoring/presence.ts';
import type { ClusterView, Proposed } from '../view.ts';
import {
  type EvictionSearch,
  type Evictions,
  evictionSearch,
  type ScoredEviction,
} from './evictions.ts';
import type { Field } from './field.ts';
import { measure } from './metrics.ts';
import type { Candidate } from './preempt.ts';

const nobody: ReadonlySet<string> = new Set();

/**
 * Is told how requests are carried out, for explanations (`explain/placement.ts`). It changes nothing;
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

/** A request that found no node. */
export interface Unplaced {
  readonly request: PlacementRequest;
  /** What is short on the one node that it may be placed on; `''`: nothing, or it may be any. */
  readonly dimension: string;
}

/** What the groups of an evaluation have in common. */
interface Surroundings {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  /** The job's. */
  readonly allocations: readonly Allocation[];
  readonly presence: JobPresence;
  readonly evictions: Evictions;
  readonly fleet: Fleet;
  readonly ids: Ids;
  readonly nowMs: number;
  readonly portStart: number;
  readonly witness?: Witness | undefined;
  /** Nanoseconds of work since an arbitrary start; without it nobody measures. */
  readonly elapsedNs?: (() => number) | undefined;
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

/** The work on one group: it is done when every request was carried out. */
export class GroupWork {
  readonly placements: Proposed<Allocation>[] = [];
  readonly stops: PlannedStop[] = [];
  readonly preemptions: PlannedPreemption[] = [];
  readonly unplaced: Unplaced[] = [];
  failure: PlacementMetrics | undefined;
  failures = 0;
  readonly #around: Surroundings;
  readonly #field: Field;
  readonly #job: Job;
  readonly #ask: Ask;
  readonly #startNs: number;
  /** The job's allocations by id. */
  #known: ReadonlyMap<string, Allocation> | undefined;
  /** Shared by all that are placed. */
  #metrics: PlacementMetrics | undefined;
  /** The same of those that others make way for, wherever. */
  #preemptingMetrics: PlacementMetrics | undefined;
  /** Made when somebody first has to make way. */
  #search: EvictionSearch | undefined;

  constructor(around: Surroundings, job: Job, field: Field, startNs: number) {
    this.#around = around;
    this.#field = field;
    this.#job = job;
    this.#ask = askOf(field.group);
    this.#startNs = startNs;
  }

  /** Returns what is left to do when the request finds no node as it is. */
  carryOut(request: PlacementRequest): Steps<void> | undefined {
    // Others than those that may have their predecessor's place fail just as the first one did.
    const isFree = request.nodeId === undefined && !this.#isAside(request);
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
      const { view, evictions } = this.#around;
      this.#search ??= evictionSearch(view, this.#job, field, evictions);
      if (this.#search !== undefined) return this.#preempt(pending, this.#search);
      this.#fail(pending);
      return undefined;
    }
    this.#around.witness?.chosen?.({ job: this.#job, field, request, penalized }, slot);
    this.#metrics ??= this.#measure(penalized);
    this.#place(pending, slot, this.#metrics);
    return undefined;
  }

  #fail({ request, penalized, predecessor }: Pending): void {
    const field = this.#field;
    const search = this.#search;
    this.#around.witness?.failed?.({ job: this.#job, field, request, penalized, search });
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
  *#preempt(pending: Pending, search: EvictionSearch): Steps<void> {
    const { request, penalized, predecessor } = pending;
    const field = this.#field;
    const { scoredNodesReported } = limits.scheduler;
    const only = request.nodeId === undefined ? undefined : field.slotOf(request.nodeId);
    const home = homeOf(field, request);
    const count = this.#preemptingMetrics === undefined ? scoredNodesReported : 1;
    const unsettled = predecessor?.slot;
    const ways = yield* search.ways({ only, home, unsettled, penalized, count });
    const [best] = ways;
    if (best === undefined) {
      this.#fail(pending);
      return;
    }
    const { slot, victims } = best.eviction;
    const moment: Moment = { job: this.#job, field, request, penalized, search };
    this.#around.witness?.chosen?.(moment, slot);
    const isOfAll = slot !== only && slot !== home;
    const shared = isOfAll ? this.#preemptingMetrics : undefined;
    const metrics = shared ?? this.#measurePreempting(penalized, ways);
    if (isOfAll) this.#preemptingMetrics = metrics;
    const { fleet, portStart } = this.#around;
    const room = fleet.roomAt(slot, portStart);
    for (const { allocation } of victims) room.evict(allocation.AllocatedResources);
    search.made(best.eviction);
    this.#place(pending, slot, metrics, victims);
  }

  #measurePreempting(
    penalized: ReadonlySet<string>,
    ways: readonly ScoredEviction[],
  ): PlacementMetrics {
    const ScoreMetaData = ways.map(({ eviction, parts, score }) => ({
      NodeID: this.#field.nodes[eviction.slot]!.ID,
      Scores: { ...parts },
      NormScore: score,
    }));
    return { ...this.#measure(penalized), ScoreMetaData };
  }

  /** The time is that from the beginning of the group's turn. */
  #measure(penalized: ReadonlySet<string>): PlacementMetrics {
    const metrics = measure(this.#job, this.#field.group, this.#field, penalized);
    const { elapsedNs } = this.#around;
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
    const { evaluation, fleet, presence, portStart, ids, nowMs } = this.#around;
    const { group } = this.#field;
    const node = fleet.nodes[slot]!;
    const room = fleet.roomAt(slot, portStart);
    const fit = room.fit(this.#ask);
    assert(fit.fits, 'only a slot that fits is chosen');
    const { resources } = fit;
    const id = ids.uuid();
    room.add(resources);
    fleet.follow(slot, room.used);
    presence.add({ ID: id, TaskGroup: group.Name, NodeID: node.ID });
    this.#field.placed(slot);
    return newAllocation({
      ...{ id, evaluation, job: this.#job, group, request, node, resources, metrics, nowMs },
      preempted: victims.map(({ allocation }) => allocation.ID),
    });
  }

  /** Whether what it replaces counts until then: it still runs, or may come back. */
  #isAside(request: PlacementRequest): boolean {
    const { kind, previous } = request;
    if (succeeds(request)) return true;
    return kind === 'lost' && previous !== undefined && this.#around.presence.has(previous.ID);
  }

  /** Lets the request have the place of what it replaces, until it is clear what becomes of it. */
  #standAside(request: PlacementRequest): StoodAside | undefined {
    const { previous } = request;
    if (previous === undefined || !this.#isAside(request)) return undefined;
    const { fleet, presence, portStart } = this.#around;
    const slot = fleet.slotOf(previous.NodeID);
    if (slot < 0) return undefined;
    const room = fleet.roomAt(slot, portStart);
    const isYielding = succeeds(request) && holdsResources(previous) && !this.#waits(previous);
    if (isYielding) room.yield(previous.AllocatedResources);
    const located = presence.remove(previous.ID);
    if (located !== undefined) this.#field.removed(slot);
    else this.#field.refresh(slot);
    const leave = () => {
      room.resume();
      this.#field.refresh(slot);
    };
    const stay = () => {
      leave();
      if (located === undefined) return;
      presence.add(located);
      this.#field.placed(slot);
    };
    return { slot, leave, stay };
  }

  /** Whether it still waits for its own predecessor there, and so has nothing to hand on. */
  #waits({ NodeID, PreviousAllocation }: Allocation): boolean {
    if (PreviousAllocation === '') return false;
    this.#known ??= new Map(this.#around.allocations.map((one) => [one.ID, one]));
    const predecessor = this.#known.get(PreviousAllocation);
    return predecessor?.NodeID === NodeID && holdsResources(predecessor);
  }
}

function shortOn(field: Field, nodeId: string | undefined): string {
  const slot = nodeId === undefined ? -1 : field.slotOf(nodeId);
  return slot < 0 || field.distinctAt(slot) !== undefined ? '' : field.sheet.dimensionAt(slot);
}

/** Whether it takes the place of one that may still run. */
const succeeds = ({ kind }: PlacementRequest): boolean => kind === 'update' || kind === 'migrate';

function chooseSlot(
  field: Field,
  request: PlacementRequest,
  penalized: ReadonlySet<string>,
): number {
  const { nodeId } = request;
  const isOpen = (slot: number) => slot >= 0 && field.isOpen(slot);
  if (nodeId !== undefined) {
    const slot = field.slotOf(nodeId);
    return isOpen(slot) ? slot : -1;
  }
  const home = homeOf(field, request);
  return home !== undefined && isOpen(home) ? home : field.best(penalized);
}

/** A group whose disk is to be kept goes back to its node whenever it can. */
function homeOf(field: Field, { previous }: PlacementRequest): number | undefined {
  const { Sticky, Migrate } = field.group.EphemeralDisk;
  return previous !== undefined && (Sticky || Migrate) ? field.slotOf(previous.NodeID) : undefined;
}
