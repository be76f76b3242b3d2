/**
 * The candidate nodes of a group while it is placed: its sheet, with the effect of the job's
 * allocations (neighbours, distinct rules, spreads), which no other class considers.
 * Source: docs/behaviour/scheduling.md#the-scheduler, #scores.
 *
 * 1. A slot is open when it passes every rule, is not full, and every distinct rule allows it.
 * 2. Callers report every change of a node's resources or locations through `notePlaced`,
 *    `noteRemoved` or `refreshSlot`.
 * 3. An open slot is in one of two tournaments: `open`, or, when allocations of the group are on the
 *    node, `withNeighbours`, whose scores have one part more. Slots of a class share their spread
 *    boost and the verdict of distinct properties, so within a class and a tournament the greatest
 *    sum has the greatest score.
 * 4. Parts are added in the order of `ScorePart`, penalty and spread last, so the score equals one
 *    computed from scratch to the last bit.
 * 5. `best` has the greatest score; among equals, the lower node id.
 * 6. `restoreSheet` undoes all changes to the sheet, except those noted in the fleet's
 *    `changedSlots`.
 */
import { drained, each, type Steps } from '../../base/steps.ts';
import type { Job } from '../../model/job/job.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { ValueColumn } from '../memory/fleet.ts';
import { feasible, type Sheet } from '../memory/sheet.ts';
import {
  DistinctColumn,
  type DistinctRule,
  distinctRules,
  isOfProperty,
} from '../scoring/distinct.ts';
import type { JobLocations } from '../scoring/locations.ts';
import { antiAffinityScore, reschedulePenalty, type ScoreParts } from '../scoring/score.ts';
import { type SpreadBoosts, spreadBoosts, spreadsOf } from '../scoring/spread.ts';
import { closed } from '../scoring/tournament.ts';
import { ClassScores } from './class-scores.ts';

export interface CandidatesInput {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly sheet: Sheet;
  readonly locations: JobLocations;
}

const nobody: ReadonlySet<string> = new Set();

/** A spread or a `distinct_property` rule, with the values of its attribute. */
interface WithColumn<T> {
  readonly item: T;
  readonly column: ValueColumn;
  /** By class of the tournament, the number of the value. */
  readonly classValues: Int32Array;
}

export class Candidates {
  readonly sheet: Sheet;
  readonly group: TaskGroup;
  /** By slot, the allocations of the group; the array of the sheet until its changes are undone. */
  #neighbours: Int32Array;
  readonly #distinct: readonly DistinctColumn[];
  readonly #propertyRules: readonly WithColumn<DistinctColumn>[];
  /** The distinct rules on nodes themselves. */
  readonly #nodeRules: readonly DistinctColumn[];
  readonly #spreads: readonly WithColumn<SpreadBoosts>[];
  readonly #scores: ClassScores;
  /** Slots whose entries in the sheet were changed here. */
  readonly #changedSlots = new Set<number>();

  /** Starts with the job's locations. */
  static *of(input: CandidatesInput): Steps<Candidates> {
    const candidates = new Candidates(input);
    yield* candidates.#enterLocations(input.locations);
    return candidates;
  }

  private constructor({ job, group, sheet, locations }: CandidatesInput) {
    this.sheet = sheet;
    this.group = group;
    this.#neighbours = sheet.neighbours;
    this.#scores = new ClassScores(sheet.layout.classes, {
      tournaments: [sheet.open, sheet.withNeighbours],
      terms: sheet.terms,
      isAllowed: (one) => this.#isAllowedByProperties(one),
      spreadBoost: (one) => this.#spreadBoost(one),
    });
    this.#distinct = distinctRules(job, group).map(
      (rule) => new DistinctColumn(rule, locations, this.#valuesOf(rule)),
    );
    this.#nodeRules = this.#distinct.filter(({ rule }) => !isOfProperty(rule));
    this.#propertyRules = this.#distinct
      .filter(({ rule }) => isOfProperty(rule))
      .map((column) => this.#withColumn(column, column.rule.target));
    const spreads = spreadsOf(job, group);
    this.#spreads = spreadBoosts(job, group, locations, (target) => this.#spreadValues(target)).map(
      (boosts, position) => this.#withColumn(boosts, spreads[position]!.Attribute),
    );
  }

  get nodes(): readonly Node[] {
    return this.sheet.fleet.nodes;
  }

  /** Whether the group has distinct rules. */
  get hasDistinctRules(): boolean {
    return this.#distinct.length > 0;
  }

  /** The slot of a node; -1: the node fails a rule. */
  slotOf(nodeId: string): number {
    const slot = this.sheet.fleet.slotOf(nodeId);
    return slot >= 0 && this.sheet.failed[slot] === feasible ? slot : -1;
  }

  /** The first distinct rule that forbids the slot. */
  distinctAt(slot: number): DistinctColumn | undefined {
    return this.#distinct.find((column) => !column.allowsNode(this.nodes[slot]!));
  }

  /** Whether a feasible slot is open. */
  isOpen(slot: number): boolean {
    return !this.sheet.isFull(slot) && this.distinctAt(slot) === undefined;
  }

  /**
   * The slot to place on; -1: no slot is open. An allocation failed on the nodes in `penalized`.
   */
  best(penalized: ReadonlySet<string> = nobody): number {
    if (penalized.size === 0) return this.#scores.best();
    const apart = [...penalized]
      .map((id) => this.slotOf(id))
      .filter((slot) => slot >= 0 && this.isOpen(slot));
    for (const slot of apart) this.#withdrawSlot(slot);
    let best = this.#scores.best();
    for (const slot of apart) this.#updateSlot(slot);
    let bestScore = best < 0 ? closed : this.scoreAt(best);
    for (const slot of apart) {
      const score = this.scoreAt(slot, penalized);
      if (score < bestScore || (score === bestScore && slot > best)) continue;
      best = slot;
      bestScore = score;
    }
    return best;
  }

  /** The best slots in order, at most `count`. */
  ranking(count: number, penalized: ReadonlySet<string> = nobody): readonly number[] {
    const slots: number[] = [];
    let rest = penalized;
    while (slots.length < count) {
      const slot = this.best(rest);
      if (slot < 0) break;
      slots.push(slot);
      this.#withdrawSlot(slot);
      const { ID } = this.nodes[slot]!;
      if (rest.has(ID)) rest = new Set([...rest].filter((id) => id !== ID));
    }
    for (const slot of slots) this.#updateSlot(slot);
    return slots;
  }

  /** The score of an open slot. */
  scoreAt(slot: number, penalized: ReadonlySet<string> = nobody): number {
    let sum = this.#sumAt(slot);
    let terms = this.#termsAt(slot);
    if (penalized.size > 0 && penalized.has(this.nodes[slot]!.ID)) {
      sum += reschedulePenalty;
      terms++;
    }
    const spread = this.#spreadBoost(this.sheet.layout.classOf(slot));
    return spread === 0 ? sum / terms : (sum + spread) / (terms + 1);
  }

  /** The parts of the score of an open slot. */
  partsAt(slot: number, penalized: ReadonlySet<string> = nobody): ScoreParts {
    const room = { pack: this.sheet.packAt(slot), devices: this.sheet.devicesAt(slot) };
    return this.partsWith(slot, room, penalized);
  }

  /** The parts of a feasible slot with the given parts for its free resources. */
  partsWith(
    slot: number,
    { pack, devices }: { readonly pack: number; readonly devices: number | undefined },
    penalized: ReadonlySet<string> = nobody,
  ): ScoreParts {
    const neighbours = this.#neighbours[slot]!;
    const affinity = this.sheet.affinityAt(slot);
    const spread = this.#spreadBoost(this.sheet.layout.classOf(slot));
    return {
      binpack: pack,
      ...(devices !== undefined && { devices }),
      ...(neighbours > 0 && {
        'job-anti-affinity': antiAffinityScore(neighbours, this.group.Count),
      }),
      ...(affinity !== undefined && { 'node-affinity': affinity }),
      ...(penalized.has(this.nodes[slot]!.ID) && { 'node-reschedule-penalty': reschedulePenalty }),
      ...(spread !== 0 && { 'allocation-spread': spread }),
    };
  }

  /**
   * Notes that an allocation of this group was placed on the node. The node's resources are updated already.
   */
  notePlaced(slot: number): void {
    this.#changeCount(slot, 1);
  }

  /** Notes that an allocation of this group left the node. The node's resources are updated already. */
  noteRemoved(slot: number): void {
    this.#changeCount(slot, -1);
  }

  /** Notes that the node's resources changed, but not the job's locations. */
  refreshSlot(slot: number): void {
    if (this.sheet.failed[slot] !== feasible) return;
    this.sheet.refitSlot(slot);
    this.#updateSlot(slot);
  }

  /** Undoes the changes to the sheet's tournaments. */
  *restoreSheetSteps(): Steps<void> {
    yield* each(this.#changedSlots, (slot) => {
      this.#scores.changed(this.sheet.layout.classOf(slot));
      this.sheet.neighbours[slot] = 0;
      this.sheet.restoreSlot(slot);
      this.#changedSlots.delete(slot);
    });
  }

  /** Undoes them after an error. An explanation that was waiting for this moment goes on reading here. */
  restoreSheet(): void {
    if (this.#changedSlots.size === 0) return;
    this.#neighbours = this.#neighbours.slice();
    drained(this.restoreSheetSteps());
  }

  /** Applies the job's locations. */
  *#enterLocations(locations: JobLocations): Steps<void> {
    const { fleet, failed } = this.sheet;
    for (const [id, count] of locations.byNode(this.group.Name)) {
      const slot = fleet.slotOf(id);
      if (failed[slot] === feasible) this.#neighbours[slot] = count;
    }
    // A rule of the whole job counts the other groups too; a limit of 0 closes every slot.
    const isShut = this.#nodeRules.some(({ rule }) => rule.limit < 1);
    const ids = this.#nodeRules.length > 0 ? locations.byNode() : locations.byNode(this.group.Name);
    const slots = isShut ? failed.keys() : [...ids.keys()].map((id) => fleet.slotOf(id));
    yield* each(slots, (slot) => {
      if (failed[slot] === feasible) this.#updateSlot(slot);
    });
  }

  #changeCount(slot: number, by: 1 | -1): void {
    const { sheet } = this;
    if (sheet.failed[slot] === feasible) this.#neighbours[slot]! += by;
    if (this.#distinct.length > 0) {
      const node = this.nodes[slot]!;
      for (const column of this.#distinct) column.change(node, by);
    }
    let isOfClass = sheet.columns.length < 2 && this.#propertyRules.length === 0;
    for (const { item: boosts, column } of this.#spreads) {
      if (boosts.change(column.numberAt[slot]!, by)) isOfClass = false;
    }
    const one = sheet.layout.classOf(slot);
    // With a single attribute each class has a value of its own.
    if (this.#spreads.length > 0 && one < 0) isOfClass = false;
    if (isOfClass) this.#scores.changed(one);
    else this.#scores.allChanged();
    this.refreshSlot(slot);
  }

  /** Puts a feasible slot into the tournament where it belongs. */
  #updateSlot(slot: number): void {
    const { sheet } = this;
    const isShut = sheet.isFull(slot) || !this.#isAllowedAlone(slot);
    const isBeside = this.#neighbours[slot]! > 0;
    sheet.open.set(slot, isShut || isBeside ? closed : sheet.sumWithout(slot));
    sheet.withNeighbours.set(slot, isShut || !isBeside ? closed : this.#sumAt(slot));
    this.#noteChanged(slot);
  }

  #withdrawSlot(slot: number): void {
    this.sheet.open.set(slot, closed);
    this.sheet.withNeighbours.set(slot, closed);
    this.#noteChanged(slot);
  }

  #noteChanged(slot: number): void {
    this.#changedSlots.add(slot);
    this.#scores.changed(this.sheet.layout.classOf(slot));
  }

  #isAllowedAlone(slot: number): boolean {
    for (const column of this.#nodeRules) if (!column.allowsNode(this.nodes[slot]!)) return false;
    return true;
  }

  #sumAt(slot: number): number {
    const neighbours = this.#neighbours[slot]!;
    if (neighbours === 0) return this.sheet.sumWithout(slot);
    return this.sheet.sumWith(slot, antiAffinityScore(neighbours, this.group.Count));
  }

  #termsAt(slot: number): number {
    return this.sheet.terms + (this.#neighbours[slot]! > 0 ? 1 : 0);
  }

  #isAllowedByProperties(one: number): boolean {
    for (const { item: by, classValues } of this.#propertyRules) {
      if (!by.allows(classValues[one]!)) return false;
    }
    return true;
  }

  #spreadBoost(one: number): number {
    let boost = 0;
    for (const { item: by, classValues } of this.#spreads) boost += by.boost(classValues[one]!);
    return boost;
  }

  #withColumn<T>(by: T, target: string): WithColumn<T> {
    const position = this.sheet.shape.targets.indexOf(target);
    return {
      item: by,
      column: this.sheet.columns[position]!,
      classValues: this.sheet.classValues(position),
    };
  }

  #valuesOf(rule: DistinctRule) {
    const position = isOfProperty(rule) ? this.sheet.shape.targets.indexOf(rule.target) : -1;
    return this.sheet.columns[position]?.values;
  }

  #spreadValues(target: string) {
    const { column, classValues } = this.#withColumn(undefined, target);
    const candidates = [...new Set(classValues)].filter((number) => number >= 0);
    return { values: column.values, candidates };
  }
}
