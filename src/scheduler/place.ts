/**
 * Carries out a reconciliation on the nodes: who gets which node, and what is left over.
 * Source: DESIGN §6, facts/scheduler.md §6.3 steps 16 to 18, §6.5, §6.9.
 *
 * 1. Rooms show the snapshot plus what the plan places, presence also less what it stops: what is
 *    stopped no longer counts for its job, but its node has yet to end it.
 * 2. A replacement that finds no node leaves what it would have replaced as it was.
 */
import { assert } from '../base/assert.ts';
import type { Ids } from '../base/ports.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import type { PlacementMetrics } from '../model/allocation/placement-metrics.ts';
import type { Evaluation } from '../model/evaluation/evaluation.ts';
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { PlannedStop } from '../model/plan/plan.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { newAllocation } from './build.ts';
import { type Candidates, candidatesFor, classVerdicts } from './candidates.ts';
import { escapesClass } from './feasibility.ts';
import { Field } from './field.ts';
import { measure } from './metrics.ts';
import { occupancyIn } from './occupancy.ts';
import { JobPresence } from './presence.ts';
import type { GroupDecision, PlacementRequest } from './reconcile.ts';
import { nodesOfFailures } from './reschedule.ts';
import { NodeRoom } from './room.ts';
import type { ClusterView, Proposed } from './view.ts';

export interface PlaceInput {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly job: Job;
  readonly allocations: readonly Allocation[];
  readonly ids: Ids;
  readonly nowMs: number;
  readonly attempt?: number;
}

/** What became of a group's requests. */
export interface GroupPlacement {
  readonly placements: readonly Proposed<Allocation>[];
  /** Of those replaced. */
  readonly stops: readonly PlannedStop[];
  /** Of the first request that found no node. */
  readonly failure: PlacementMetrics | undefined;
  readonly queued: number;
  readonly classes: ReadonlyMap<string, boolean>;
  readonly escaped: boolean;
}

const nobody: ReadonlySet<string> = new Set();

/** The work on one evaluation's plan; it ends with the evaluation. */
export class Placer {
  readonly #input: PlaceInput;
  readonly #presence: JobPresence;
  readonly #rooms = new Map<string, NodeRoom>();
  readonly #portStart: number;

  constructor(input: PlaceInput) {
    this.#input = input;
    this.#presence = new JobPresence((id) => input.view.node(id), input.allocations);
    this.#portStart = hash(`${input.evaluation.ID} ${input.attempt ?? 1}`);
  }

  /** Takes out what the plan stops in any case. Before the first `placeGroup`. */
  stop({ allocationId, desiredStatus }: PlannedStop): void {
    if (desiredStatus !== 'run') this.#presence.remove(allocationId);
  }

  placeGroup(decision: GroupDecision): GroupPlacement {
    const { view, job } = this.#input;
    const { group } = decision;
    const candidates = candidatesFor(job, group, view.nodes());
    const field = new Field({
      job,
      group,
      nodes: candidates.feasible,
      presence: this.#presence,
      configuration: view.configuration,
      roomOf: (node) => this.#roomOf(node),
    });
    return this.#placeAll(group, decision.placements, candidates, field);
  }

  #placeAll(
    group: TaskGroup,
    requests: readonly PlacementRequest[],
    candidates: Candidates,
    field: Field,
  ): GroupPlacement {
    const placements: Proposed<Allocation>[] = [];
    const stops: PlannedStop[] = [];
    let metrics: PlacementMetrics | undefined;
    let failure: PlacementMetrics | undefined;
    let failures = 0;
    for (const request of requests) {
      // Others than those that may have their predecessor's place fail just as the first one did.
      if (failure !== undefined && !succeeds(request)) {
        failures++;
        continue;
      }
      const predecessor = this.#standAside(request, field);
      const penalized = request.kind === 'reschedule' ? nodesOfFailures(request.previous!) : nobody;
      const slot = chooseSlot(field, request, penalized);
      if (slot < 0) {
        failure ??= measure(this.#input.job, candidates, field, penalized);
        failures++;
        predecessor?.stay();
        continue;
      }
      metrics ??= measure(this.#input.job, candidates, field, penalized);
      placements.push(this.#take(group, request, field, slot, metrics));
      predecessor?.leave();
      if (request.stop !== undefined) stops.push(request.stop);
    }
    return {
      placements,
      stops,
      failure: failure && { ...failure, CoalescedFailures: failures - 1 },
      queued: failures,
      classes: classVerdicts(candidates),
      escaped: escapesClass(candidates.rules),
    };
  }

  #take(
    group: TaskGroup,
    request: PlacementRequest,
    field: Field,
    slot: number,
    metrics: PlacementMetrics,
  ): Proposed<Allocation> {
    const { evaluation, job, ids, nowMs } = this.#input;
    const node = field.nodes[slot]!;
    const fit = field.fitAt(slot);
    assert(fit.fits, 'only a slot that fits is chosen');
    const { resources } = fit;
    const id = ids.uuid();
    field.roomAt(slot).add(id, resources);
    this.#presence.add({ ID: id, TaskGroup: group.Name, NodeID: node.ID });
    field.placed(node);
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
    });
  }

  /** Lets the request have the place of what it replaces, until it is clear what becomes of it. */
  #standAside(request: PlacementRequest, field: Field) {
    const { previous } = request;
    if (previous === undefined || !succeeds(request)) return undefined;
    const node = this.#input.view.node(previous.NodeID);
    if (node === undefined) return undefined;
    const room = this.#roomOf(node);
    room.yield(previous.ID);
    const located = this.#presence.remove(previous.ID);
    if (located !== undefined) field.removed(node);
    else field.refresh(node);
    const leave = () => {
      room.resume();
      field.refresh(node);
    };
    const stay = () => {
      leave();
      if (located === undefined) return;
      this.#presence.add(located);
      field.placed(node);
    };
    return { leave, stay };
  }

  #roomOf(node: Node): NodeRoom {
    let room = this.#rooms.get(node.ID);
    if (room === undefined) {
      const { view } = this.#input;
      room = new NodeRoom(node, occupancyIn(view, node.ID), this.#portStart);
      this.#rooms.set(node.ID, room);
    }
    return room;
  }
}

/** Whether it takes the place of one that may still run. */
const succeeds = ({ kind }: PlacementRequest): boolean => kind === 'update' || kind === 'migrate';

/** A group whose disk is to be kept goes back to its node whenever it can. */
function chooseSlot(
  field: Field,
  { previous }: PlacementRequest,
  penalized: ReadonlySet<string>,
): number {
  const { Sticky, Migrate } = field.ask.group.EphemeralDisk;
  if (previous !== undefined && (Sticky || Migrate)) {
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
