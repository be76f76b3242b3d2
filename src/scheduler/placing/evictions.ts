/**
 * Where a request that finds no room may have some made, and what that is worth: every node that is
 * full is looked at, as placement looks at every node with room.
 * Source: docs/behaviour/scheduling.md#preemption.
 *
 * 1. Only nodes that pass every rule and lack nothing but room are looked at.
 * 2. The best is the greatest mean of the parts of the score, with the part `preemption`; of equal
 *    ones the lower node id.
 * 3. What was found out about a node holds until its room changes, or until a group that has
 *    allocations there loses more of them.
 */
import type { Steps } from '../../base/steps.ts';
import type { Job } from '../../model/job/job.ts';
import type { Ask } from '../fitting/resources.ts';
import { NodeRoom } from '../fitting/room.ts';
import type { Fleet } from '../memory/fleet.ts';
import { feasible } from '../memory/sheet.ts';
import { packScore, type ScoreParts } from '../scoring/score.ts';
import type { ClusterView } from '../view.ts';
import type { Field } from './field.ts';
import { type Candidate, chooseVictims, evictable, preemptionScore, Ranks } from './preempt.ts';

/** Nodes that are looked at, or compared, before others get their turn. */
const nodesPerStep = 8;
const slotsPerStep = 1024;

/** Who has to make way in the plan under way. */
export class Evictions {
  readonly ranks: Ranks;
  readonly #lost = new Map<string, number>();
  readonly #ids = new Set<string>();

  constructor(view: ClusterView) {
    this.ranks = new Ranks(view);
  }

  add({ allocation, crew }: Candidate): void {
    this.#ids.add(allocation.ID);
    this.#lost.set(crew, this.lost(crew) + 1);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  lost(crew: string): number {
    return this.#lost.get(crew) ?? 0;
  }
}

/** How a node would have room. */
export interface Eviction {
  readonly slot: number;
  readonly victims: readonly Candidate[];
  /** The parts of the score that depend on the room there would be. */
  readonly pack: number;
  readonly devices: number | undefined;
  readonly preemption: number;
}

export interface ScoredEviction {
  readonly eviction: Eviction;
  readonly parts: ScoreParts;
  readonly score: number;
}

/** What is asked of a search. */
interface Sought {
  /** The one slot that it may be. */
  readonly only: number | undefined;
  /** The one that is taken if it can be. */
  readonly home: number | undefined;
  /** Whose room may change back. */
  readonly unsettled: number | undefined;
  readonly penalized: ReadonlySet<string>;
  /** How many are to be told at most. */
  readonly count: number;
}

interface SearchInput {
  readonly view: ClusterView;
  readonly job: Job;
  readonly field: Field;
  readonly ask: Ask;
  readonly evictions: Evictions;
}

/** Of a group on a field; `undefined`: nobody has to make way for the job. */
export const evictionSearch = (
  view: ClusterView,
  job: Job,
  field: Field,
  evictions = new Evictions(view),
): EvictionSearch | undefined =>
  view.configuration.preemption[job.Type]
    ? new EvictionSearch({ view, job, field, evictions, ask: field.sheet.shape.ask })
    : undefined;

/** For one group, while it is placed. */
export class EvictionSearch {
  readonly #input: SearchInput;
  readonly #fleet: Fleet;
  /** Slots of nodes that pass the rules. */
  readonly #slots: readonly number[];
  /** By slot; null: there is no way. */
  readonly #known: (Eviction | null | undefined)[] = [];
  #looks = 0;
  /** By crew, the slots where it counts how many of it are lost. */
  readonly #minding = new Map<string, Set<number>>();

  constructor(input: SearchInput) {
    const { sheet } = input.field;
    this.#input = input;
    this.#fleet = sheet.fleet;
    this.#slots = [...sheet.failed.keys()].filter((slot) => sheet.failed[slot] === feasible);
  }

  /** On one node, as it is at this moment. */
  at(slot: number, penalized: ReadonlySet<string>): ScoredEviction | undefined {
    const { field } = this.#input;
    if (!field.sheet.isFull(slot) || field.distinctAt(slot) !== undefined) return undefined;
    const eviction = this.#look(slot);
    return eviction && this.#score(eviction, penalized);
  }

  /** The best first; one at most where it may not be anywhere. */
  *ways(sought: Sought): Steps<readonly ScoredEviction[]> {
    const { only, home, penalized } = sought;
    if (++this.#looks % nodesPerStep === 0) yield;
    const own = this.#on(only ?? home, penalized);
    if (own !== undefined) return [own];
    return only === undefined ? yield* this.#ranking(sought) : [];
  }

  #on(slot: number | undefined, penalized: ReadonlySet<string>): ScoredEviction | undefined {
    return slot === undefined || slot < 0 ? undefined : this.at(slot, penalized);
  }

  *#ranking({ count, penalized, unsettled }: Sought): Steps<readonly ScoredEviction[]> {
    const { field } = this.#input;
    let best: ScoredEviction[] = [];
    let looked = 0;
    for (const [position, slot] of this.#slots.entries()) {
      if (position % slotsPerStep === slotsPerStep - 1) yield;
      if (!field.sheet.isFull(slot) || field.distinctAt(slot) !== undefined) continue;
      let eviction = slot === unsettled ? undefined : this.#known[slot];
      if (eviction === undefined) {
        if (++looked % nodesPerStep === 0) yield;
        eviction = this.#look(slot) ?? null;
        if (slot !== unsettled) this.#known[slot] = eviction;
      }
      if (eviction === null) continue;
      const scored = this.#score(eviction, penalized);
      if (best.length === count && scored.score <= best.at(-1)!.score) continue;
      const place = best.findIndex(({ score }) => score < scored.score);
      best = best.toSpliced(place < 0 ? best.length : place, 0, scored).slice(0, count);
    }
    return best;
  }

  /** The room of the slot changed. */
  changed(slot: number): void {
    this.#known[slot] = undefined;
  }

  /** The victims have to make way. Their room knows already, and of that `changed` tells. */
  made({ victims }: Eviction): void {
    for (const victim of victims) {
      this.#input.evictions.add(victim);
      for (const other of this.#minding.get(victim.crew) ?? []) this.changed(other);
    }
  }

  #look(slot: number): Eviction | undefined {
    const { view, job, field, ask, evictions } = this.#input;
    const node = field.nodes[slot]!;
    const occupants = evictable(job, view.allocationsOnNode(node.ID), evictions.ranks);
    const candidates = occupants.filter(({ allocation }) => !evictions.has(allocation.ID));
    if (candidates.length === 0) return undefined;
    const room = this.#fleet.roomIfAny(slot) ?? new NodeRoom(node, this.#fleet.loadAt(slot));
    const victims = chooseVictims(room, ask, candidates, (crew) => evictions.lost(crew));
    if (victims === undefined) return undefined;
    this.#mind(slot, candidates);
    for (const { allocation } of victims) room.evict(allocation.AllocatedResources);
    const fit = room.fit(ask);
    const pack = fit.fits
      ? packScore(field.sheet.shape.algorithm, room.used, fit.need, room.capacity)
      : 0;
    for (const { allocation } of victims) room.spare(allocation.AllocatedResources);
    const devices = fit.fits ? fit.devices : undefined;
    const preemption = preemptionScore(victims.map(({ priority }) => priority));
    return { slot, victims, pack, devices, preemption };
  }

  /** Where there is a choice of crews, it depends on what they have lost. */
  #mind(slot: number, candidates: readonly Candidate[]): void {
    const crews = new Set(candidates.map(({ crew }) => crew));
    if (crews.size < 2) return;
    for (const crew of crews) {
      const slots = this.#minding.get(crew) ?? new Set();
      this.#minding.set(crew, slots.add(slot));
    }
  }

  #score(eviction: Eviction, penalized: ReadonlySet<string>): ScoredEviction {
    const { field } = this.#input;
    const { slot, preemption } = eviction;
    const parts = { ...field.partsWith(slot, eviction, penalized), preemption };
    const values = Object.values(parts);
    const score = values.reduce((sum, part) => sum + part, 0) / values.length;
    return { eviction, parts, score };
  }
}
