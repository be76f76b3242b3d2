/**
 * What is done about allocations whose nodes are away, or that are over with nobody in their place.
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
  /** Those that another one may replace now. */
  readonly replaceable: readonly Allocation[];
  /** Those whose place is kept for a while yet. */
  readonly awaited: readonly Allocation[];
  /** Ids of those that are away while others do their work. */
  readonly replacedAway: readonly string[];
  /** How many went away since anybody looked. */
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
  /** Makes sure that an evaluation comes back to one that is waited for already. */
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
        // What nobody replaces may come back and go on: it counts until another one has its place.
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
 * Whether some allocation has, or is to have, the place of another one. Those that had it before, and
 * went when it came back, do not count when it is away again.
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
  ...(['unknown', 'lost', 'awaited', 'ended'] as const),
]);

/** How long a node that is away may still run what it has; `undefined`: nobody waits for that. */
function graceOf(group: TaskGroup): number | undefined {
  const grace = group.Disconnect?.StopOnClientAfter ?? null;
  return grace === null ? undefined : instantToMs(grace);
}
