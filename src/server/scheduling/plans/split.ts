import { each, filtered, grouped, mapped, type Steps } from '../../../base/steps.ts';
import { namesFollowUp, type Plan } from '../../../model/plan/plan.ts';

/**
 * A plan in parts of at most `rowsMax` allocations each, to be applied in turn as transactions of
 * their own, so that a large one holds up nobody else's requests. Each part is right by itself:
 * after a crash, or when something comes in between, the evaluation is decided again and goes on
 * from there, as after a plan that was accepted in part.
 * Source: docs/behaviour/scheduling.md#plans-become-state.
 *
 * 1. A plan that is all or nothing is one part.
 * 2. What is replaced is stopped by the part that places its replacement, and what makes way for a
 *    placement is evicted by its part.
 * 3. The deployment comes with the first part, for what is placed names it.
 * 4. Follow-ups and the marks that name them come with the last part, and so does the word that
 *    the job's deployment is a success.
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

/** What needs no follow-up. At least one part, though it may be empty. */
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
  /** The part that takes so many rows, which are not taken apart. */
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
