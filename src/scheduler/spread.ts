/** Spreads over the values of an attribute, in both forms. Source: facts/scheduler.md §6.5. */
import type { Spread } from '../model/constraint/constraint.ts';
import type { Job } from '../model/job/job.ts';
import type { Node } from '../model/node/node.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import { type JobPresence, ValueColumn } from './presence.ts';
import { compileTarget } from './target.ts';

const worst = -1;

/** Stands for every value that no target names. */
const rest = '*';

/** One spread over the candidate nodes of a group; the boost of each value is kept ready. */
export class SpreadColumn {
  readonly #values: ValueColumn;
  readonly #boosts: number[] = [];
  readonly #compute: (values: ValueColumn, boosts: number[]) => number;
  /** Of nodes that lack the attribute. */
  #missing: number;

  /** `share` is the spread's part of all weights, `count` how many the group wants. */
  constructor(spread: Spread, share: number, count: number, values: ValueColumn) {
    this.#values = values;
    const targets = spread.SpreadTarget ?? [];
    this.#compute =
      targets.length === 0 ? evenBoosts : targetBoosts(desiredCounts(targets, count), share);
    this.#missing = this.#compute(this.#values, this.#boosts);
  }

  boost(slot: number): number {
    const number = this.#values.valueOf[slot]!;
    return number < 0 ? this.#missing : this.#boosts[number]!;
  }

  change(node: Node, by: 1 | -1): void {
    this.#values.change(node, by);
    this.#missing = this.#compute(this.#values, this.#boosts);
  }
}

/** The job's and the group's spreads; weights count as shares of their sum. */
export function spreadColumns(
  job: Job,
  group: TaskGroup,
  nodes: readonly Node[],
  presence: JobPresence,
): readonly SpreadColumn[] {
  const spreads = [...(job.Spreads ?? []), ...(group.Spreads ?? [])];
  const whole = spreads.reduce((sum, spread) => sum + spread.Weight, 0);
  return spreads.map((spread) => {
    const read = compileTarget(spread.Attribute);
    const values = new ValueColumn(read, nodes, presence.byValue(read, group.Name));
    return new SpreadColumn(spread, spread.Weight / whole, group.Count, values);
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
 * How far the value stays below its share once one more is there. A value that should have none
 * gets the lowest boost of all, so that order of looking does not matter.
 */
const targetBoosts =
  (desired: ReadonlyMap<string, number>, share: number) =>
  (values: ValueColumn, boosts: number[]): number => {
    let lowest = worst;
    const unwanted: number[] = [];
    for (const [number, name] of values.names.entries()) {
      const wanted = desired.get(name) ?? desired.get(rest);
      if (wanted === undefined) {
        boosts[number] = worst;
      } else if (wanted === 0) {
        unwanted.push(number);
      } else {
        boosts[number] = ((wanted - (values.counts[number]! + 1)) / wanted) * share;
        lowest = Math.min(lowest, boosts[number]!);
      }
    }
    for (const number of unwanted) boosts[number] = lowest;
    return worst;
  };

/** Without targets every value should have as many as any other; the weight does not count. */
function evenBoosts(values: ValueColumn, boosts: number[]): number {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const [number, isUsed] of values.inUse.entries()) {
    if (!isUsed) continue;
    least = Math.min(least, values.counts[number]!);
    most = Math.max(most, values.counts[number]!);
  }
  for (const [number, current] of values.counts.entries()) {
    boosts[number] = evenBoost(current, least, most);
  }
  return most === Number.NEGATIVE_INFINITY ? 0 : worst;
}

function evenBoost(current: number, least: number, most: number): number {
  if (most === Number.NEGATIVE_INFINITY) return 0;
  if (current !== least) return least === 0 ? worst : (least - current) / least;
  if (least === most) return worst;
  return least === 0 ? 1 : (most - least) / least;
}
