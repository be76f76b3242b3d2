import { each, filtered, grouped, mapped, type Steps } from '../../../base/steps.ts';
import { namesFollowUp, type Plan } from '../../../model/plan/plan.ts';

/**
 * Splits a plan into parts of at most `rowsMax` allocations, each applied in a transaction of its
 * own, so that a large plan holds up no requests. Each part is right by itself: after a crash or a
 * change by others, the evaluation is decided again and goes on from there, as after a plan that
 * was accepted in part. Source: docs/behaviour/scheduling.md#plans-become-state.
 *
 * 1. A plan that is all or nothing is one part.
 * 2. An allocation is stopped by the part that places its replacement, and evicted by the part that
 *    places the allocation which needs its room.
 * 3. The deployment comes with the first part, since placements name it.
 * 4. Follow-ups, stops that name them, and the success of the job's deployment come with the last part.
 */
export function* splitPlan(plan: Plan, rowsMax: number): Steps<readonly Plan[]> {
  if (plan.allAtOnce || sizeOf(plan) <= rowsMax) return [plan];
  const parts = yield* partsOf(plan, rowsMax);
  const followUps = yield* filtered(plan.stops, namesFollowUp);
  const isLate = ({ ID }: Plan['deploymentUpdates'][number]) => ID === plan.deploymentSeen?.ID;
  const early = plan.deploymentUpdates.filter((update) => !isLate(update));
  const late = plan.deploymentUpdates.filter(isLate);
  const last = parts.length - 1;
  yield* each(followUps, (stop) => parts[last]!.stops.push(stop));
  return yield* mapped(parts.entries(), ([position, part]) => ({
    ...plan,
    ...part,
    deployment: position === 0 ? plan.deployment : null,
    deploymentUpdates: [...(position === 0 ? early : []), ...(position === last ? late : [])],
    evaluations: position === last ? plan.evaluations : [],
  }));
}

type Rows = Pick<Plan, 'stops' | 'placements' | 'preemptions' | 'inPlaceUpdates'>;

type Part = { readonly [Name in keyof Rows]: Rows[Name][number][] };

const emptyPart = (): Part => ({ stops: [], placements: [], preemptions: [], inPlaceUpdates: [] });

const sizeOf = ({ stops, placements, preemptions, inPlaceUpdates }: Rows): number =>
  stops.length + placements.length + preemptions.length + inPlaceUpdates.length;

/** All changes but stops with follow-ups. At least one part, which may be empty. */
function* partsOf(
  { stops, placements, preemptions, inPlaceUpdates }: Plan,
  rowsMax: number,
): Steps<Part[]> {
  const replaced = new Set<string>();
  yield* each(placements, ({ PreviousAllocation: id }) => {
    if (id !== '') replaced.add(id);
  });
  const here = yield* filtered(stops, (stop) => !namesFollowUp(stop));
  const withPlacement = yield* filtered(here, ({ allocationId }) => replaced.has(allocationId));
  const stopsOf = yield* grouped(withPlacement, ({ allocationId }) => allocationId);
  const preemptionsOf = yield* grouped(preemptions, ({ byAllocationId }) => byAllocationId);
  const parts = [emptyPart()];
  let rows = 0;
  /** The part for a group of rows that stay together. */
  const partFor = (size: number): Part => {
    if (rows > 0 && rows + size > rowsMax) {
      parts.push(emptyPart());
      rows = 0;
    }
    rows += size;
    return parts.at(-1)!;
  };
  yield* each(here, (stop) => {
    if (!replaced.has(stop.allocationId)) partFor(1).stops.push(stop);
  });
  yield* each(inPlaceUpdates, (update) => partFor(1).inPlaceUpdates.push(update));
  yield* each(placements, (placement) => {
    const ending = stopsOf.get(placement.PreviousAllocation) ?? none;
    const evicted = preemptionsOf.get(placement.ID) ?? none;
    const part = partFor(1 + ending.length + evicted.length);
    part.stops.push(...ending);
    part.placements.push(placement);
    part.preemptions.push(...evicted);
  });
  return parts;
}

const none: readonly never[] = [];
