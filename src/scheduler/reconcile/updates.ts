/**
 * Splits the allocations of earlier versions into in-place and destructive updates.
 * Source: docs/behaviour/scheduling.md#updates-in-place.
 */
import { each, filtered, mapped, type Steps, sorted } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { allocationIndex, isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Job } from '../../model/job/job.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { VersionTests } from '../decision.ts';
import { type Classified, isCurrent, type Standing } from './classify.ts';

export interface Updates {
  readonly inPlace: readonly Allocation[];
  /** In the order of replacement: ended allocations first, then by name. */
  readonly destructive: readonly Allocation[];
}

/** Sorts by the index of the name, then by id. */
export function* sortedByIndex(allocations: readonly Allocation[]): Steps<readonly Allocation[]> {
  const indexed = yield* mapped(allocations, (allocation) => {
    return { allocation, index: allocationIndex(allocation.Name) };
  });
  const order = yield* sorted(
    indexed,
    (left, right) =>
      left.index - right.index || (left.allocation.ID < right.allocation.ID ? -1 : 1),
  );
  return yield* mapped(order, ({ allocation }) => allocation);
}

const updatable: ReadonlySet<Standing['kind']> = new Set([
  'kept',
  'settled',
  'reschedule-now',
  'reschedule-later',
]);

export function* splitUpdates(
  job: Job,
  group: TaskGroup,
  staying: readonly Classified[],
  { isOutdated, splitStaying }: Pick<VersionTests, 'isOutdated' | 'splitStaying'>,
): Steps<Updates> {
  const outdated: Allocation[] = [];
  const compatible: Allocation[] = [];
  const current: Allocation[] = [];
  yield* each(staying, ({ allocation, standing }) => {
    if (!updatable.has(standing.kind)) return;
    const runs = standing.kind === 'kept';
    if (isCurrent(allocation, job)) {
      if (runs) current.push(allocation);
    } else if (isOutdated(allocation)) outdated.push(allocation);
    else if (runs) compatible.push(allocation);
  });
  if (outdated.length + compatible.length === 0) return { inPlace: [], destructive: [] };
  const split = yield* splitStaying(group, compatible, current);
  const destructive = yield* sortedByIndex([...outdated, ...split.leaving]);
  const ended = yield* filtered(destructive, (one) => isClientTerminal(one));
  if (ended.length === 0) return { inPlace: split.staying, destructive };
  const running = yield* filtered(destructive, (one) => !isClientTerminal(one));
  return { inPlace: split.staying, destructive: [...ended, ...running] };
}
