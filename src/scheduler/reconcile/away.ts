/**
 * Decides about allocations whose node is away, and about ended allocations without a successor.
 * Source: docs/behaviour/scheduling.md#reconciliation, #nodes-that-are-away.
 */
import { instantToMs } from '../../base/instant.ts';
import { each, filtered, type Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { allocationIndex } from '../../model/allocation/allocation-rules.ts';
import type { PlannedStop } from '../../model/plan/plan.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import type { Postponed } from '../decision.ts';
import { type EvaluationContext, hasReminder } from '../waiting.ts';
import { type Classified, counts, lostAfterMs, lostSinceMs, unknownSinceMs } from './classify.ts';
import { lostStop, mark, unknownMark } from './stops.ts';

export interface AwayDecision {
  readonly stops: readonly PlannedStop[];
  readonly postponed: readonly Postponed[];
  /** Allocations that may be replaced now. */
  readonly replaceable: readonly Allocation[];
  /** Allocations whose place stays reserved for a while. */
  readonly awaited: readonly Allocation[];
  /** Ids of allocations that are away and have a replacement. */
  readonly replacedAway: readonly string[];
  /** The number of allocations newly found away. */
  readonly disconnected: number;
}

export function* decideAway(
  classified: readonly Classified[],
  group: TaskGroup,
  context: EvaluationContext,
): Steps<AwayDecision> {
  const { nowMs } = context;
  const stops: PlannedStop[] = [];
  const postponed: Postponed[] = [];
  const replaceable: Allocation[] = [];
  const awaited: Allocation[] = [];
  const replacedAway: string[] = [];
  let disconnected = 0;
  const later = (stop: PlannedStop, dueMs: number) =>
    postponed.push({ stop, dueMs, cause: 'disconnect' });
  /** Ensures that a later evaluation handles an allocation that already waits. */
  const remind = (allocation: Allocation, dueMs: number) => {
    if (!hasReminder(allocation, context)) later(mark(allocation), dueMs);
  };
  const hasReplacement = yield* replacementTest(classified);
  const graceMs = graceOf(group);
  const waitMs = lostAfterMs(group);
  yield* each(classified, ({ allocation, standing }) => {
    switch (standing.kind) {
      case 'vanished':
        stops.push(lostStop(allocation));
        break;
      case 'lost':
        if (graceMs === undefined) {
          stops.push(lostStop(allocation));
          replaceable.push(allocation);
        } else {
          later(lostStop(allocation), nowMs + graceMs);
          awaited.push(allocation);
        }
        break;
      case 'ended':
        if (allocationIndex(allocation.Name) < group.Count) replaceable.push(allocation);
        break;
      case 'awaited':
        awaited.push(allocation);
        remind(allocation, lostSinceMs(allocation) + (graceMs ?? 0));
        break;
      case 'unknown':
        // An allocation that is away may come back: it counts until it has a replacement.
        if (standing.isReplaced && hasReplacement(allocation)) replacedAway.push(allocation.ID);
        if (standing.isReplaced && !hasReplacement(allocation)) replaceable.push(allocation);
        if (allocation.ClientStatus !== 'unknown') {
          disconnected++;
          if (waitMs > 0) later(unknownMark(allocation), nowMs + waitMs);
          else stops.push(unknownMark(allocation));
        } else if (waitMs > 0) {
          remind(allocation, unknownSinceMs(allocation) + waitMs);
        }
        break;
      default:
    }
  });
  return { stops, postponed, replaceable, awaited, replacedAway, disconnected };
}

/**
 * Tests whether an allocation has a replacement, running or to come. A replacement that was stopped
 * when the allocation came back does not count when it goes away again.
 */
function* replacementTest(
  classified: readonly Classified[],
): Steps<(allocation: Allocation) => boolean> {
  const replaced = yield* filtered(
    classified,
    ({ allocation, standing }) => standing.kind === 'unknown' && allocation.NextAllocation !== '',
  );
  if (replaced.length === 0) return () => false;
  const byId = new Map<string, Classified>();
  yield* each(classified, (one) => byId.set(one.allocation.ID, one));
  return ({ NextAllocation }) => {
    const seen = new Set<string>();
    for (let id = NextAllocation; id !== '' && !seen.has(id); ) {
      seen.add(id);
      const next = byId.get(id);
      if (next === undefined) return false;
      if (counts(next.standing) || replacingKinds.has(next.standing.kind)) return true;
      id = next.allocation.NextAllocation;
    }
    return false;
  };
}

const replacingKinds: ReadonlySet<Classified['standing']['kind']> = new Set([
  'unknown',
  'lost',
  'awaited',
  'ended',
]);

/** How long an absent node may still run its allocations; `undefined`: they are replaced at once. */
function graceOf(group: TaskGroup): number | undefined {
  const grace = group.Disconnect?.StopOnClientAfter ?? null;
  return grace === null ? undefined : instantToMs(grace);
}
