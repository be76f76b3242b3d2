import { instantFromMs } from '../../base/instant.ts';
import type { World } from '../../base/ports.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Plan, PlannedStop } from '../../model/plan/plan.ts';
import { checkNode } from '../../scheduler/check.ts';
import { allocations, evaluations, inNamespace, jobs, nodes } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import { countAllocations, type Move } from '../jobs/summary.ts';

/** A node whose part of a plan was not applied, and why. */
export interface Rejection {
  readonly nodeId: string;
  readonly reason: string;
}

/**
 * The one place where a plan becomes state. Every touched node is checked again on the newest
 * state: what does not fit there is left out, or all of it when the plan is all or nothing.
 * Source: facts/scheduler.md §6.1, DESIGN §6.
 */
export function applyPlan(
  transaction: Transaction,
  world: Pick<World, 'clock'>,
  plan: Plan,
): readonly Rejection[] {
  const rejections = rejectionsOf(transaction, plan);
  if (plan.allAtOnce && rejections.length > 0) return rejections;
  const rejected = new Set(rejections.map(({ nodeId }) => nodeId));
  // What would have been replaced there goes on until its replacement has found a place.
  const kept = new Set(
    plan.placements
      .filter((placement) => rejected.has(placement.NodeID))
      .map((placement) => placement.PreviousAllocation),
  );
  // Follow-ups are made by the attempt that is accepted whole, and so are the marks that name them.
  const isWhole = rejections.length === 0;
  const now = instantFromMs(world.clock.nowMs());
  const table = transaction.table(allocations);
  const AllocModifyIndex = transaction.index;
  const moves: Move[] = [];

  for (const stop of plan.stops) {
    const before = table.get(...inNamespace(plan.namespace, stop.allocationId));
    if (before === undefined || kept.has(stop.allocationId)) continue;
    if (!isWhole && stop.followupEvaluationId !== undefined) continue;
    const after = { ...before, ...stopFields(stop), AllocModifyIndex, ModifyTime: now };
    moves.push({ before, after: table.put(after) });
  }
  for (const update of plan.inPlaceUpdates) {
    const before = table.get(...inNamespace(plan.namespace, update.ID));
    if (before === undefined || rejected.has(update.NodeID)) continue;
    const after = { ...update, ...reportedFields(before), AllocModifyIndex, ModifyTime: now };
    moves.push({ before, after: table.put(after) });
  }
  for (const placement of plan.placements) {
    if (rejected.has(placement.NodeID)) continue;
    moves.push({ before: undefined, after: table.put({ ...placement, AllocModifyIndex }) });
    linkPrevious(transaction, placement);
  }
  if (isWhole) for (const one of plan.evaluations) transaction.table(evaluations).put(one);
  countAllocations(transaction, moves);
  return rejections;
}

/** What is not left alone of a stopped allocation. */
const stopFields = (stop: PlannedStop): Partial<Allocation> => ({
  DesiredStatus: stop.desiredStatus,
  DesiredDescription: stop.desiredDescription,
  ...(stop.clientStatus && { ClientStatus: stop.clientStatus }),
  ...(stop.followupEvaluationId && { FollowupEvalID: stop.followupEvaluationId }),
});

/** What the node said since the plan was made is not taken back by an update in place. */
const reportedFields = ({
  ClientStatus,
  ClientDescription,
  TaskStates,
  DeploymentStatus,
  NetworkStatus,
}: Allocation) => ({
  ...{ ClientStatus, ClientDescription, TaskStates },
  ...{ DeploymentStatus, NetworkStatus },
});

function linkPrevious(
  transaction: Transaction,
  placement: Pick<Allocation, 'ID' | 'Namespace' | 'PreviousAllocation'>,
): void {
  if (placement.PreviousAllocation === '') return;
  const table = transaction.table(allocations);
  const previous = table.get(...inNamespace(placement.Namespace, placement.PreviousAllocation));
  if (previous !== undefined) table.put({ ...previous, NextAllocation: placement.ID });
}

function rejectionsOf(transaction: Transaction, plan: Plan): Rejection[] {
  const touched = new Set(
    [...plan.placements, ...plan.inPlaceUpdates].map((allocation) => allocation.NodeID),
  );
  const job = transaction.table(jobs).get(...inNamespace(plan.namespace, plan.jobId));
  const rejections: Rejection[] = [];
  for (const nodeId of touched) {
    const check = checkNode({
      node: transaction.table(nodes).get(nodeId),
      existing: transaction
        .table(allocations)
        .by('occupant')
        .scan({ prefix: [nodeId] }),
      stops: plan.stops.filter((stop) => stop.nodeId === nodeId),
      placements: plan.placements.filter((placement) => placement.NodeID === nodeId),
      updates: plan.inPlaceUpdates.filter((update) => update.NodeID === nodeId),
      job,
    });
    if (check !== undefined) rejections.push({ nodeId, reason: check });
  }
  return rejections;
}
