/**
 * Searches the full nodes for evictions that make room for a request, and scores them.
 * Source: docs/behaviour/scheduling.md#preemption.
 *
 * 1. Only full nodes that pass every rule and distinct rule are searched.
 * 2. The best node has the greatest mean of its score parts, with the part `preemption`; among equals
 *    the lower node id wins.
 * 3. The result for a node stays valid until its resources change, or until a group with allocations
 *    on it loses another allocation.
 */
import type { Steps } from '../../base/steps.ts';
import type { Job } from '../../model/job/job.ts';
import type { Ask } from '../fitting/resources.ts';
import type { Fleet } from '../memory/fleet.ts';
import { feasible } from '../memory/sheet.ts';
import { packScore, type ScoreParts } from '../scoring/score.ts';
import type { ClusterView } from '../view.ts';
import type { Candidates } from './candidates.ts';
import {
  chooseVictims,
  type Evictable,
  EvictionRanks,
  evictableOn,
  preemptionScore,
} from './preempt.ts';

/** Nodes searched, and slots compared, in a step. */
const nodesPerStep = 8;
const slotsPerStep = 1024;

/** The evictions of the plan under way. */
export class PlannedEvictions {
  readonly ranks: EvictionRanks;
  readonly #lostByGroup = new Map<string, number>();
  readonly #ids = new Set<string>();

  constructor(view: ClusterView) {
    this.ranks = new EvictionRanks(view);
  }

  add({ allocation, groupKey }: Evictable): void {
    this.#ids.add(allocation.ID);
    this.#lostByGroup.set(groupKey, this.lost(groupKey) + 1);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  lost(groupKey: string): number {
    return this.#lostByGroup.get(groupKey) ?? 0;
  }
}

/** Evictions that make room on a node. */
export interface Eviction {
  readonly slot: number;
  readonly victims: readonly Evictable[];
  /** The score parts that depend on the node's resources after the evictions. */
  readonly pack: number;
  readonly devices: number | undefined;
  readonly preemption: number;
}

export interface ScoredEviction {
  readonly eviction: Eviction;
  readonly parts: ScoreParts;
  readonly score: number;
}

/** A query for the best evictions. */
interface EvictionQuery {
  /** The only slot allowed; `undefined`: any slot. */
  readonly onlySlot: number | undefined;
  /** The slot preferred to all others. */
  readonly homeSlot: number | undefined;
  /** A slot whose resources may change back, so its result is not kept. */
  readonly provisionalSlot: number | undefined;
  readonly penalized: ReadonlySet<string>;
  /** The greatest number of results. */
  readonly count: number;
}

interface SearchInput {
  readonly view: ClusterView;
  readonly job: Job;
  readonly candidates: Candidates;
  readonly ask: Ask;
  readonly evictions: PlannedEvictions;
}

/** `undefined`: jobs of this type may not evict. */
export const evictionSearch = (
  view: ClusterView,
  job: Job,
  candidates: Candidates,
  evictions = new PlannedEvictions(view),
): EvictionSearch | undefined =>
  view.configuration.preemption[job.Type]
    ? new EvictionSearch({
        view,
        job,
        candidates,
        evictions,
        ask: candidates.sheet.shape.ask,
      })
    : undefined;

/** The search for a group, while it is placed. */
export class EvictionSearch {
  readonly #input: SearchInput;
  readonly #fleet: Fleet;
  /** The feasible slots. */
  readonly #slots: readonly number[];
  /** Results by slot; `null`: no evictions suffice. */
  readonly #known: (Eviction | null | undefined)[] = [];
  #searches = 0;
  /** By group key, the slots whose result depends on the group's losses. */
  readonly #slotsByGroup = new Map<string, Set<number>>();

  constructor(input: SearchInput) {
    const { sheet } = input.candidates;
    this.#input = input;
    this.#fleet = sheet.fleet;
    this.#slots = [...sheet.failed.keys()].filter((slot) => sheet.failed[slot] === feasible);
  }

  /** The evictions on one node, computed from scratch. */
  evictionAt(slot: number, penalized: ReadonlySet<string>): ScoredEviction | undefined {
    const { candidates } = this.#input;
    if (!candidates.sheet.isFull(slot) || candidates.distinctAt(slot) !== undefined)
      return undefined;
    const eviction = this.#findEviction(slot);
    return eviction && this.#scoreEviction(eviction, penalized);
  }

  /** The best evictions in order; at most one if the query names a slot that works. */
  *bestEvictions(sought: EvictionQuery): Steps<readonly ScoredEviction[]> {
    const { onlySlot: only, homeSlot: home, penalized } = sought;
    if (++this.#searches % nodesPerStep === 0) yield;
    const own = this.#evictionOn(only ?? home, penalized);
    if (own !== undefined) return [own];
    return only === undefined ? yield* this.#rankEvictions(sought) : [];
  }

  #evictionOn(
    slot: number | undefined,
    penalized: ReadonlySet<string>,
  ): ScoredEviction | undefined {
    return slot === undefined || slot < 0 ? undefined : this.evictionAt(slot, penalized);
  }

  *#rankEvictions({
    count,
    penalized,
    provisionalSlot: unsettled,
  }: EvictionQuery): Steps<readonly ScoredEviction[]> {
    const { candidates } = this.#input;
    let best: ScoredEviction[] = [];
    let looked = 0;
    for (const [position, slot] of this.#slots.entries()) {
      if (position % slotsPerStep === slotsPerStep - 1) yield;
      if (!candidates.sheet.isFull(slot) || candidates.distinctAt(slot) !== undefined) continue;
      let eviction = slot === unsettled ? undefined : this.#known[slot];
      if (eviction === undefined) {
        if (++looked % nodesPerStep === 0) yield;
        eviction = this.#findEviction(slot) ?? null;
        if (slot !== unsettled) this.#known[slot] = eviction;
      }
      if (eviction === null) continue;
      const scored = this.#scoreEviction(eviction, penalized);
      if (best.length === count && scored.score <= best.at(-1)!.score) continue;
      const place = best.findIndex(({ score }) => score < scored.score);
      best = best.toSpliced(place < 0 ? best.length : place, 0, scored).slice(0, count);
    }
    return best;
  }

  /** Notes that the resources of the slot changed. */
  roomChanged(slot: number): void {
    this.#known[slot] = undefined;
  }

  /** Notes that the victims are evicted. The caller updates the node and calls `roomChanged` for its slot. */
  noteEvicted({ victims }: Eviction): void {
    for (const victim of victims) {
      this.#input.evictions.add(victim);
      for (const other of this.#slotsByGroup.get(victim.groupKey) ?? []) this.roomChanged(other);
    }
  }

  #findEviction(slot: number): Eviction | undefined {
    const { view, job, candidates, ask, evictions } = this.#input;
    const node = candidates.nodes[slot]!;
    const occupants = evictableOn(job, view.allocationsOnNode(node.ID), evictions.ranks);
    const evictables = occupants.filter(({ allocation }) => !evictions.has(allocation.ID));
    if (evictables.length === 0) return undefined;
    const planned = this.#fleet.lookAt(slot);
    const victims = chooseVictims(planned, ask, evictables, (groupKey) => evictions.lost(groupKey));
    if (victims === undefined) return undefined;
    this.#watchGroups(slot, evictables);
    for (const { allocation } of victims) planned.evict(allocation.AllocatedResources);
    const fit = planned.fit(ask);
    const pack = fit.fits
      ? packScore(candidates.sheet.shape.algorithm, planned.used, fit.need, planned.capacity)
      : 0;
    for (const { allocation } of victims) planned.undoEvict(allocation.AllocatedResources);
    const devices = fit.fits ? fit.devices : undefined;
    const preemption = preemptionScore(victims.map(({ priority }) => priority));
    return { slot, victims, pack, devices, preemption };
  }

  /** With several groups on a node, the choice of victims depends on the groups' losses. */
  #watchGroups(slot: number, evictables: readonly Evictable[]): void {
    const groupKeys = new Set(evictables.map(({ groupKey }) => groupKey));
    if (groupKeys.size < 2) return;
    for (const groupKey of groupKeys) {
      const slots = this.#slotsByGroup.get(groupKey) ?? new Set();
      this.#slotsByGroup.set(groupKey, slots.add(slot));
    }
  }

  #scoreEviction(eviction: Eviction, penalized: ReadonlySet<string>): ScoredEviction {
    const { candidates } = this.#input;
    const { slot, preemption } = eviction;
    const parts = { ...candidates.partsWith(slot, eviction, penalized), preemption };
    const values = Object.values(parts);
    const score = values.reduce((sum, part) => sum + part, 0) / values.length;
    return { eviction, parts, score };
  }
}
