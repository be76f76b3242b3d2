/**
 * Spreads over the values of an attribute, with and without targets.
 * Source: docs/behaviour/scheduling.md#spread.
 */
import type { Spread } from '../../model/constraint/constraint.ts';
import type { Job } from '../../model/job/job.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { compileTarget } from '../fitting/target.ts';
import { type JobLocations, ValueCounts } from './locations.ts';
import type { Numbering } from './numbering.ts';

const worst = -1;

/** Stands for all values without a target of their own. */
const rest = '*';

/** A spread while a group is placed: the score part of each value. */
export interface SpreadBoosts {
  /** The part for a value's number; -1: for nodes without the attribute. */
  boost(number: number): number;
  /**
   * Notes that an allocation of the group was placed on a node with the value (`by` 1) or left it (-1). Returns
   * whether this may have changed the part of another value.
   */
  change(number: number, by: 1 | -1): boolean;
}

/** An attribute's values, and the numbers of those that candidate nodes have. */
export interface SpreadValues {
  readonly values: Numbering;
  readonly candidates: readonly number[];
}

export const spreadsOf = (job: Job, group: TaskGroup): readonly Spread[] => [
  ...(job.Spreads ?? []),
  ...(group.Spreads ?? []),
];

/** The job's spreads, then the group's; a weight counts as a share of all weights. */
export function spreadBoosts(
  job: Job,
  group: TaskGroup,
  locations: JobLocations,
  valuesOf: (target: string) => SpreadValues,
): readonly SpreadBoosts[] {
  const spreads = spreadsOf(job, group);
  const whole = spreads.reduce((sum, spread) => sum + spread.Weight, 0);
  return spreads.map((spread) => {
    const { values, candidates } = valuesOf(spread.Attribute);
    const read = compileTarget(spread.Attribute);
    const counts = new ValueCounts(read, values, locations.byValue(read, group.Name));
    const targets = spread.SpreadTarget ?? [];
    if (targets.length === 0) return new EvenBoosts(counts);
    const desired = desiredCounts(targets, group.Count);
    return new TargetBoosts(counts, candidates, desired, spread.Weight / whole);
  });
}

type Targets = NonNullable<Spread['SpreadTarget']>;

function desiredCounts(targets: Targets, count: number): ReadonlyMap<string, number> {
  const desired = new Map<string, number>();
  let sum = 0;
  for (const { Value, Percent } of targets) {
    desired.set(Value, (Percent / 100) * count);
    sum += (Percent / 100) * count;
  }
  if (sum < count && !desired.has(rest)) desired.set(rest, count - sum);
  return desired;
}

/**
 * With targets: how far a value stays below its share with one more allocation. A value with a target
 * of 0 gets the lowest boost of all values that are candidates or in use, so that the order of
 * evaluation does not matter.
 */
export class TargetBoosts implements SpreadBoosts {
  readonly #counts: ValueCounts;
  readonly #candidates: readonly number[];
  readonly #desired: ReadonlyMap<string, number>;
  /** Whether some target is 0. Its part depends on those of all values. */
  readonly #hasUnwanted: boolean;
  readonly #share: number;
  /** Desired count by number; `undefined`: not computed yet, NaN: no target covers the value. */
  readonly #wanted: number[] = [];
  /** The lowest boost; `undefined`: not computed since the last change. */
  #lowest: number | undefined;

  /** `share`: the spread's share of all weights. */
  constructor(
    counts: ValueCounts,
    candidates: readonly number[],
    desired: ReadonlyMap<string, number>,
    share: number,
  ) {
    this.#counts = counts;
    this.#candidates = candidates;
    this.#desired = desired;
    this.#hasUnwanted = [...desired.values()].includes(0);
    this.#share = share;
  }

  boost(number: number): number {
    if (number < 0) return worst;
    const wanted = this.#wantedOf(number);
    if (Number.isNaN(wanted)) return worst;
    if (wanted === 0) return this.#lowestOfAll();
    return ((wanted - (this.#counts.count(number) + 1)) / wanted) * this.#share;
  }

  change(number: number, by: 1 | -1): boolean {
    if (number < 0) return false;
    this.#counts.change(number, by);
    this.#lowest = undefined;
    return this.#hasUnwanted;
  }

  #wantedOf(number: number): number {
    let wanted = this.#wanted[number];
    if (wanted === undefined) {
      const name = this.#counts.name(number);
      wanted = this.#desired.get(name) ?? this.#desired.get(rest) ?? Number.NaN;
      this.#wanted[number] = wanted;
    }
    return wanted;
  }

  #lowestOfAll(): number {
    if (this.#lowest !== undefined) return this.#lowest;
    let lowest = worst;
    const look = (number: number): void => {
      if (this.#wantedOf(number) > 0) lowest = Math.min(lowest, this.boost(number));
    };
    for (const number of this.#candidates) look(number);
    for (const number of this.#counts.inUse()) look(number);
    this.#lowest = lowest;
    return lowest;
  }
}

/**
 * Without targets every value should get equally many allocations; the weight does not count.
 *
 * 1. `#usedBy[n]` is the number of values in use that have n allocations.
 * 2. `#least` and `#most` are the lowest and highest count in use; +∞ and -∞ when none is.
 */
export class EvenBoosts implements SpreadBoosts {
  readonly #counts: ValueCounts;
  readonly #usedBy: number[] = [];
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;

  constructor(counts: ValueCounts) {
    this.#counts = counts;
    for (const number of counts.inUse()) this.#enterCount(counts.count(number));
  }

  boost(number: number): number {
    if (this.#most === Number.NEGATIVE_INFINITY) return 0;
    if (number < 0) return worst;
    const current = this.#counts.count(number);
    const least = this.#least;
    if (current !== least) return least === 0 ? worst : (least - current) / least;
    if (least === this.#most) return worst;
    return least === 0 ? 1 : (this.#most - least) / least;
  }

  change(number: number, by: 1 | -1): boolean {
    if (number < 0) return false;
    const [least, most] = [this.#least, this.#most];
    const wasInUse = this.#counts.isInUse(number);
    const before = this.#counts.count(number);
    this.#counts.change(number, by);
    this.#enterCount(before + by);
    if (wasInUse) this.#leaveCount(before);
    return this.#least !== least || this.#most !== most;
  }

  #enterCount(count: number): void {
    this.#usedBy[count] = (this.#usedBy[count] ?? 0) + 1;
    this.#least = Math.min(this.#least, count);
    this.#most = Math.max(this.#most, count);
  }

  /** `#enterCount` runs first, so some count is in use and the loops end. */
  #leaveCount(count: number): void {
    this.#usedBy[count]!--;
    while ((this.#usedBy[this.#least] ?? 0) === 0) this.#least++;
    while ((this.#usedBy[this.#most] ?? 0) === 0) this.#most--;
  }
}
