/**
 * Chooses the allocations to stop when a group has too many.
 * Source: docs/behaviour/scheduling.md#reconciliation.
 */
import { each, mapped, type Steps, sorted } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { allocationIndex, isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import { isCurrent, type Standing } from './classify.ts';

interface Counted {
  readonly allocation: Allocation;
  readonly standing: Standing;
}

/**
 * Ids to stop so that `count` are left: first duplicates of a name, then allocations that have to
 * move anyway, then the highest indexes.
 */
export function* stopsForExcess(
  job: Job,
  counted: readonly Counted[],
  count: number,
): Steps<ReadonlySet<string>> {
  const excess = counted.length - count;
  if (excess <= 0) return new Set();
  const duplicates = yield* duplicatesOf(job, counted);
  const rank = ({ allocation, standing }: Counted): number => {
    if (duplicates.has(allocation.ID)) return 0;
    return standing.kind === 'migrating' ? 1 : 2;
  };
  const ranked = yield* mapped(counted, (one) => {
    const { ID, Name } = one.allocation;
    return { id: ID, rank: rank(one), index: allocationIndex(Name) };
  });
  const order = yield* sorted(
    ranked,
    (left, right) =>
      left.rank - right.rank || right.index - left.index || (left.id < right.id ? 1 : -1),
  );
  return new Set(order.slice(0, excess).map(({ id }) => id));
}

/** Ids of all but the best allocation of each name. */
function* duplicatesOf(job: Job, counted: readonly Counted[]): Steps<ReadonlySet<string>> {
  const holders = new Map<string, Counted>();
  const duplicates = new Set<string>();
  yield* each(counted, (one) => {
    const holder = holders.get(one.allocation.Name);
    if (holder === undefined) {
      holders.set(one.allocation.Name, one);
      return;
    }
    const isBetter = worth(job, one) > worth(job, holder);
    duplicates.add((isBetter ? holder : one).allocation.ID);
    if (isBetter) holders.set(one.allocation.Name, one);
  });
  return duplicates;
}

/**
 * A running allocation is worth most, then an allocation of the current version, then an allocation that may
 * stay.
 */
function worth(job: Job, { allocation, standing }: Counted): number {
  const lives = isClientTerminal(allocation) ? 0 : 4;
  return lives + (isCurrent(allocation, job) ? 2 : 0) + (standing.kind === 'migrating' ? 0 : 1);
}
