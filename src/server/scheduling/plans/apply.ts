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
import { countAllocations, type Move } from '../job-summary.ts';
import { applyDeployments } from './deployments.ts';
import { applyPreemptions, undeserved } from './preemptions.ts';
import { staleness } from './stale.ts';

/** A node whose part of a plan was not applied, and why. */
export interface Rejection {
  /** `''`: nothing of the plan was applied. */
  readonly nodeId: string;
  readonly reason: string;
}

/**
 * Who holds what of a node in the state that the transaction with the index begins with; `undefined`
 * where that is not known and has to be added up.
 */
export type KnownOccupancies = (nodeId: string, index: number) => Occupancy | undefined;

/**
 * The one place where a plan becomes state. Every touched node is checked again on the newest
 * state: what does not fit there is left out, or all of it when the plan is all or nothing.
 * Source: docs/behaviour/scheduling.md#plans-become-state.
 */
export function applyPlan(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
  plan: Plan,
  knownOccupancyOf: KnownOccupancies = () => undefined,
): readonly Rejection[] {
  const stale = staleness(transaction, plan);
  if (stale !== undefined) return [{ nodeId: '', reason: stale }];
  const rejections = rejectionsOf(transaction, plan, knownOccupancyOf);
  if (plan.allAtOnce && rejections.length > 0) return rejections;
  const nowMs = world.clock.nowMs();
  const accepted: Accepted = {
    plan,
    rejected: new Set(rejections.map(({ nodeId }) => nodeId)),
    isWhole: rejections.length === 0,
    now: instantFromMs(nowMs),
  };
  const preemptions = plan.preemptions.filter(({ nodeId }) => !accepted.rejected.has(nodeId));
  const evicted = applyPreemptions(transaction, world, preemptions);
  const stopped = applyStops(transaction, accepted);
  const updated = applyUpdates(transaction, accepted);
  const placed = applyPlacements(transaction, accepted);
  if (accepted.isWhole) createEvaluations(transaction, plan);
  countAllocations(transaction, [...evicted, ...stopped, ...updated, ...placed]);
  removeServicesOfEnded(transaction, [...evicted, ...stopped]);
  const joined = [...updated, ...placed].filter(joins).map(({ after }) => after);
  applyDeployments(transaction, nowMs, plan, joined, accepted.isWhole);
  return rejections;
}

/** A plan, and what of it is left out. */
interface Accepted {
  readonly plan: Plan;
  /** Ids of nodes. */
  readonly rejected: ReadonlySet<string>;
  readonly isWhole: boolean;
  readonly now: number;
}

function applyStops(transaction: Transaction, { plan, rejected, isWhole, now }: Accepted): Move[] {
  // What would have been replaced there goes on until its replacement has found a place.
  const kept = new Set(
    plan.placements
      .filter((placement) => rejected.has(placement.NodeID))
      .map((placement) => placement.PreviousAllocation),
  );
  const table = transaction.table(allocations);
  const moves: Move[] = [];
  for (const stop of plan.stops) {
    const before = table.get(...inNamespace(plan.namespace, stop.allocationId));
    if (before === undefined || kept.has(stop.allocationId)) continue;
    // Follow-ups are made by the attempt that is accepted whole, and so are marks that name them.
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

/** What others changed of an allocation since the plan was made stays as they made it. */
function applyUpdates(transaction: Transaction, { plan, rejected, now }: Accepted): Move[] {
  const table = transaction.table(allocations);
  const moves: Move[] = [];
  for (const update of plan.inPlaceUpdates) {
    const before = table.get(...inNamespace(plan.namespace, update.ID));
    if (before === undefined || rejected.has(update.NodeID)) continue;
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
      // Health is asked for anew.
      ...(isMember && { DeploymentID, DeploymentStatus }),
      AllocModifyIndex: transaction.index,
      ModifyTime: now,
    });
    moves.push({ before, after });
  }
  return moves;
}

function applyPlacements(transaction: Transaction, { plan, rejected }: Accepted): Move[] {
  const table = transaction.table(allocations);
  const moves: Move[] = [];
  for (const placement of plan.placements) {
    if (rejected.has(placement.NodeID)) continue;
    const after = table.put({ ...placement, AllocModifyIndex: transaction.index });
    moves.push({ before: undefined, after });
    linkPrevious(transaction, placement);
  }
  return moves;
}

/** Whether it became part of a deployment just now. */
const joins = ({ before, after }: Move): boolean =>
  after.DeploymentID !== '' && after.DeploymentID !== before?.DeploymentID;

/** Where an evaluation waits for room on the very node already, that one goes on waiting. */
function createEvaluations(transaction: Transaction, plan: Plan): void {
  const table = transaction.table(evaluations);
  const awaited = new Set<string>();
  if (plan.evaluations.some(isBlockedOnNode)) {
    const range = { prefix: inNamespace(plan.namespace, plan.jobId) };
    for (const one of table.by('open').scan(range)) {
      if (isBlockedOnNode(one)) awaited.add(one.NodeID);
    }
  }
  for (const one of plan.evaluations) {
    if (!isBlockedOnNode(one) || !awaited.has(one.NodeID)) table.put(one);
  }
}

const isBlockedOnNode = ({ Status, NodeID }: Pick<Evaluation, 'Status' | 'NodeID'>): boolean =>
  Status === 'blocked' && NodeID !== '';

/** What is not left alone of a stopped allocation. */
const stopFields = (stop: PlannedStop, before: Allocation, now: number): Partial<Allocation> => ({
  DesiredStatus: stop.desiredStatus,
  DesiredDescription: stop.desiredDescription,
  // What its node said last of one that ended is the truth.
  ...(stop.clientStatus && !isClientTerminal(before) && awayFields(before, stop.clientStatus, now)),
  ...(stop.followupEvaluationId !== undefined && { FollowupEvalID: stop.followupEvaluationId }),
  ...(stop.lastReschedule && {
    RescheduleTracker: {
      Events: before.RescheduleTracker?.Events ?? null,
      LastReschedule: stop.lastReschedule,
    },
  }),
});

/** Since when it is away is noted, for that says how long it is waited for. */
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

function rejectionsOf(
  transaction: Transaction,
  plan: Plan,
  knownOccupancyOf: KnownOccupancies,
): Rejection[] {
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
  const rejections: Rejection[] = [];
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
    if (reason !== undefined) rejections.push({ nodeId, reason });
  }
  return rejections;
}
