import { each, filtered, grouped, mapped, type Steps } from '../../base/steps.ts';
import type { Plan, PlannedStop } from '../../model/plan/plan.ts';

/**
 * A plan in parts of at most `rowsMax` allocations each, to be applied in turn as transactions of
 * their own, so that a large one holds up nobody else's requests. Each part is right by itself:
 * after a crash, or when something comes in between, the evaluation is decided again and goes on
 * from there, as after a plan that was accepted in part. Source: facts/scheduler.md §6.1.
 *
 * 1. A plan that is all or nothing is one part.
 * 2. What is replaced is stopped by the part that places its replacement, and what makes way for a
 *    placement is evicted by its part.
 * 3. The deployment comes with the first part, for what is placed names it.
 * 4. Follow-ups and the marks that name them come with the last part, and so does the word that
 *    the job's deployment is a success.
 */
export function* splitPlan(plan: Plan, rowsMax: number): Steps<readonly Plan[]> {
  const { stops } = plan;
  if (plan.allAtOnce || sizeOf(plan) <= rowsMax) return [plan];
  const units = yield* unitsOf(plan);
  const parts = yield* mapped(yield* inParts(units, rowsMax), (part) => ({
    stops: part.flatMap((unit) => unit.stops),
    placements: part.flatMap((unit) => unit.placements),
    preemptions: part.flatMap((unit) => unit.preemptions),
    inPlaceUpdates: part.flatMap((unit) => unit.inPlaceUpdates),
  }));
  const isLate = ({ ID }: Plan['deploymentUpdates'][number]) => ID === plan.deploymentSeen?.ID;
  const early = plan.deploymentUpdates.filter((update) => !isLate(update));
  const late = plan.deploymentUpdates.filter(isLate);
  const last = parts.length - 1;
  return parts.map((part, position) => ({
    ...plan,
    ...part,
    stops: position < last ? part.stops : [...part.stops, ...stops.filter(namesFollowUp)],
    deployment: position === 0 ? plan.deployment : null,
    deploymentUpdates: [...(position === 0 ? early : []), ...(position === last ? late : [])],
    evaluations: position === last ? plan.evaluations : [],
  }));
}

/** What cannot be taken apart. */
type Unit = Pick<Plan, 'stops' | 'placements' | 'preemptions' | 'inPlaceUpdates'>;

const nothing: Unit = { stops: [], placements: [], preemptions: [], inPlaceUpdates: [] };

const sizeOf = ({ stops, placements, preemptions, inPlaceUpdates }: Unit): number =>
  stops.length + placements.length + preemptions.length + inPlaceUpdates.length;

const namesFollowUp = (stop: PlannedStop): boolean => stop.followupEvaluationId !== undefined;

function* unitsOf({
  stops,
  placements,
  preemptions,
  inPlaceUpdates,
}: Plan): Steps<readonly Unit[]> {
  const replaced = new Set<string>();
  yield* each(placements, (placement) => replaced.add(placement.PreviousAllocation));
  const here = yield* filtered(stops, (stop) => !namesFollowUp(stop));
  const stopsOf = yield* grouped(here, ({ allocationId }) => allocationId);
  const preemptionsOf = yield* grouped(preemptions, ({ byAllocationId }) => byAllocationId);
  const alone = yield* filtered(here, ({ allocationId }) => !replaced.has(allocationId));
  return [
    ...(yield* mapped(alone, (stop) => ({ ...nothing, stops: [stop] }))),
    ...(yield* mapped(inPlaceUpdates, (update) => ({ ...nothing, inPlaceUpdates: [update] }))),
    ...(yield* mapped(placements, (placement) => ({
      ...nothing,
      stops: stopsOf.get(placement.PreviousAllocation) ?? [],
      placements: [placement],
      preemptions: preemptionsOf.get(placement.ID) ?? [],
    }))),
  ];
}

/** At least one part, though it may be empty. */
function* inParts(units: readonly Unit[], rowsMax: number): Steps<readonly Unit[][]> {
  const parts: Unit[][] = [[]];
  let rows = 0;
  yield* each(units, (unit) => {
    const size = sizeOf(unit);
    if (rows > 0 && rows + size > rowsMax) {
      parts.push([]);
      rows = 0;
    }
    parts.at(-1)!.push(unit);
    rows += size;
  });
  return parts;
}
