import { instantFromMs } from '../../../base/instant.ts';
import type { World } from '../../../base/ports.ts';
import type { Allocation } from '../../../model/allocation/allocation.ts';
import { holdsResources, isClientTerminal } from '../../../model/allocation/allocation-rules.ts';
import type { Evaluation } from '../../../model/evaluation/evaluation.ts';
import { limits } from '../../../model/limits.ts';
import { namesFollowUp, type Plan, type PlannedStop } from '../../../model/plan/plan.ts';
import { checkNode } from '../../../scheduler/fitting/check.ts';
import { type Occupancy, occupancyOf } from '../../../scheduler/fitting/occupancy.ts';
import { allocations, evaluations, inNamespace, jobs, nodes } from '../../../state/tables.ts';
import type { Transaction } from '../../../state/types.ts';
import { removeServicesOfEnded } from '../../services/remove.ts';
import { cancelAll } from '../evaluations/cancel.ts';
import { countAllocations, type Move, movesByJob } from '../job-summary.ts';
import { applyDeployments } from './deployments.ts';
import { applyPreemptions, undeserved } from './preemptions.ts';
import { staleness } from './stale.ts';

/** A node whose part of a plan was not applied, and why. */
export interface NodeRefusal {
  /** `''`: nothing of the plan was applied. */
  readonly nodeId: string;
  readonly reason: string;
}

/**
 * The occupancy of a node in the state before the transaction with this index; `undefined`:
 * unknown, so that allocations have to be added up.
 */
export type KnownOccupancies = (nodeId: string, index: number) => Occupancy | undefined;

/**
 * The one place where a plan becomes state. Every touched node is checked again on the newest
 * state, and its part of the plan is left out if it no longer fits. If the plan is all or nothing,
 * a single refusal leaves out everything.
 * Source: docs/behaviour/scheduling.md#plans-become-state.
 */
export function applyPlan(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
  plan: Plan,
  knownOccupancyOf: KnownOccupancies = () => undefined,
): readonly NodeRefusal[] {
  const stale = staleness(transaction, plan);
  if (stale !== undefined) return [{ nodeId: '', reason: stale }];
  const refusals = refusalsOf(transaction, plan, knownOccupancyOf);
  if (plan.allAtOnce && refusals.length > 0) return refusals;
  const nowMs = world.clock.nowMs();
  const accepted: Accepted = {
    plan,
    refused: new Set(refusals.map(({ nodeId }) => nodeId)),
    isWhole: refusals.length === 0,
    now: instantFromMs(nowMs),
  };
  const preemptions = plan.preemptions.filter(({ nodeId }) => !accepted.refused.has(nodeId));
  const evicted = applyPreemptions(transaction, world, preemptions);
  const stopped = applyStops(transaction, accepted);
  const updated = applyUpdates(transaction, accepted);
  const placed = applyPlacements(transaction, accepted);
  if (accepted.isWhole) createEvaluations(transaction, world, plan);
  countAllocations(transaction, movesByJob([...evicted, ...stopped, ...updated, ...placed]));
  removeServicesOfEnded(transaction, [...evicted, ...stopped]);
  const joined = [...updated, ...placed].filter(joins).map(({ after }) => after);
  applyDeployments(transaction, nowMs, plan, { joined, isWhole: accepted.isWhole });
  return refusals;
}

/** A plan, and the nodes whose part is left out. */
interface Accepted {
  readonly plan: Plan;
  /** Ids of nodes. */
  readonly refused: ReadonlySet<string>;
  readonly isWhole: boolean;
  readonly now: number;
}

function applyStops(transaction: Transaction, { plan, refused, isWhole, now }: Accepted): Move[] {
  // An allocation goes on until its replacement has found a place.
  const kept = new Set(
    plan.placements
      .filter((placement) => refused.has(placement.NodeID))
      .map((placement) => placement.PreviousAllocation),
  );
  const table = transaction.table(allocations);
  const moves: Move[] = [];
  for (const stop of plan.stops) {
    const before = table.get(...inNamespace(plan.namespace, stop.allocationId));
    if (before === undefined || kept.has(stop.allocationId)) continue;
    // Follow-ups, and stops that name them, are left to an attempt that is accepted whole.
    if (!isWhole && namesFollowUp(stop)) continue;
    const after = table.put({
      ...before,
      ...stopFields(stop, before, now),
      AllocModifyIndex: transaction.index,
      ModifyTime: now,
    });
    moves.push({ before, after });
  }
  return moves;
}

/** Changes by others since the plan was made are kept. */
function applyUpdates(transaction: Transaction, { plan, refused, now }: Accepted): Move[] {
  const table = transaction.table(allocations);
  const moves: Move[] = [];
  for (const update of plan.inPlaceUpdates) {
    const before = table.get(...inNamespace(plan.namespace, update.ID));
    if (before === undefined || refused.has(update.NodeID)) continue;
    const { EvalID, JobVersion, JobCreateIndex, AllocatedResources, DesiredDescription } = update;
    const { DeploymentID, DeploymentStatus } = update;
    const isMember = DeploymentID !== before.DeploymentID;
    const after = table.put({
      ...before,
      EvalID,
      JobVersion,
      JobCreateIndex,
      AllocatedResources,
      DesiredDescription,
      // The health of an allocation that joins a deployment is asked for again.
      ...(isMember && { DeploymentID, DeploymentStatus }),
      AllocModifyIndex: transaction.index,
      ModifyTime: now,
    });
    moves.push({ before, after });
  }
  return moves;
}

function applyPlacements(transaction: Transaction, { plan, refused }: Accepted): Move[] {
  const table = transaction.table(allocations);
  const moves: Move[] = [];
  for (const placement of plan.placements) {
    if (refused.has(placement.NodeID)) continue;
    const after = table.put({ ...placement, AllocModifyIndex: transaction.index });
    moves.push({ before: undefined, after });
    linkPrevious(transaction, placement);
  }
  return moves;
}

/** Whether the allocation became part of a deployment just now. */
const joins = ({ before, after }: Move): boolean =>
  after.DeploymentID !== '' && after.DeploymentID !== before?.DeploymentID;

/**
 * If an evaluation already waits for room on a node, that one goes on waiting. If the job has changed since, a new one
 * takes its place: the turn of the old one, and the room that wakes it, were reckoned from the job as it was.
 */
function createEvaluations(
  transaction: Transaction,
  world: Pick<World, 'clock'>,
  plan: Plan,
): void {
  const table = transaction.table(evaluations);
  const proposed = new Set(plan.evaluations.filter(isBlockedOnNode).map(({ NodeID }) => NodeID));
  const awaited = new Set<string>();
  const outdated: Evaluation[] = [];
  if (proposed.size > 0) {
    const range = { prefix: inNamespace(plan.namespace, plan.jobId) };
    for (const one of table.by('open').scan(range)) {
      if (!isBlockedOnNode(one) || !proposed.has(one.NodeID)) continue;
      if (one.JobModifyIndex === plan.jobModifyIndex) awaited.add(one.NodeID);
      else outdated.push(one);
    }
  }
  cancelAll(transaction, { world }, outdated, 'a newer evaluation waits in its place');
  for (const one of plan.evaluations) {
    if (!isBlockedOnNode(one) || !awaited.has(one.NodeID)) table.put(one);
  }
}

const isBlockedOnNode = ({ Status, NodeID }: Pick<Evaluation, 'Status' | 'NodeID'>): boolean =>
  Status === 'blocked' && NodeID !== '';

/** The fields that a stop changes. */
const stopFields = (stop: PlannedStop, before: Allocation, now: number): Partial<Allocation> => ({
  DesiredStatus: stop.desiredStatus,
  DesiredDescription: stop.desiredDescription,
  // If the allocation has ended, its node's last report is the truth.
  ...(stop.clientStatus && !isClientTerminal(before) && awayFields(before, stop.clientStatus, now)),
  ...(stop.followupEvaluationId !== undefined && { FollowupEvalID: stop.followupEvaluationId }),
  ...(stop.lastReschedule && {
    RescheduleTracker: {
      Events: before.RescheduleTracker?.Events ?? null,
      LastReschedule: stop.lastReschedule,
    },
  }),
});

/** Records when the allocation went away: the wait for its return is counted from then. */
const awayFields = (
  { AllocStates }: Allocation,
  ClientStatus: NonNullable<PlannedStop['clientStatus']>,
  now: number,
): Partial<Allocation> => ({
  ClientStatus,
  AllocStates: [
    ...(AllocStates ?? []),
    { Field: 'ClientStatus', Value: ClientStatus, Time: now },
  ].slice(-limits.allocation.statesKept),
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

function refusalsOf(
  transaction: Transaction,
  plan: Plan,
  knownOccupancyOf: KnownOccupancies,
): NodeRefusal[] {
  const placements = Map.groupBy(plan.placements, ({ NodeID }) => NodeID);
  const updates = Map.groupBy(plan.inPlaceUpdates, ({ NodeID }) => NodeID);
  const stops = Map.groupBy(plan.stops, ({ nodeId }) => nodeId);
  const preemptions = Map.groupBy(plan.preemptions, ({ nodeId }) => nodeId);
  const job = transaction.table(jobs).get(...inNamespace(plan.namespace, plan.jobId));
  const table = transaction.table(allocations);
  const occupants = (nodeId: string) => table.by('occupant').scan({ prefix: [nodeId] });
  const namespaceOf = new Map(
    plan.preemptions.map(({ allocationId, namespace }) => [allocationId, namespace]),
  );
  const holderOn = (nodeId: string) => (id: string) => {
    const one = table.get(...inNamespace(namespaceOf.get(id) ?? plan.namespace, id));
    return one?.NodeID === nodeId && holdsResources(one) ? one : undefined;
  };
  const refusals: NodeRefusal[] = [];
  for (const nodeId of new Set([...placements.keys(), ...updates.keys()])) {
    const preempted = preemptions.get(nodeId) ?? [];
    const unfit = checkNode({
      node: transaction.table(nodes).get(nodeId),
      occupancy:
        knownOccupancyOf(nodeId, transaction.index) ?? occupancyOf(() => occupants(nodeId)),
      holder: holderOn(nodeId),
      stops: stops.get(nodeId) ?? [],
      preempted: preempted.map(({ allocationId }) => allocationId),
      placements: placements.get(nodeId) ?? [],
      updates: updates.get(nodeId) ?? [],
      job,
    });
    const reason = unfit ?? undeserved(transaction, plan, preempted);
    if (reason !== undefined) refusals.push({ nodeId, reason });
  }
  return refusals;
}
