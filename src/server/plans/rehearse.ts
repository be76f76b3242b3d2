/**
 * Does an act on a rehearsal of the state, and decides what follows from it by the very functions that would do so
 * afterwards: the scheduler, the applier of plans, the decision of drains.
 *
 * Invariants
 *  R1. Nothing is written to the state.
 *  R2. The same state, act and ids give the same changes and decisions.
 */
import { formatInstant } from '../../base/instant.ts';
import type { Ids, World } from '../../base/ports.ts';
import type { Steps } from '../../base/steps.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { type Evaluation, isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import type { Act } from '../../model/kept-plan/act.ts';
import { limits } from '../../model/limits.ts';
import type { Node } from '../../model/node/node.ts';
import { type Outline, outlineOf } from '../../model/plan/outline.ts';
import { scheduleSteps } from '../../scheduler/schedule.ts';
import type { ClusterView, SchedulerConfiguration, SchedulerResult } from '../../scheduler/view.ts';
import { allocations, evaluations, inNamespace, nodes } from '../../state/tables.ts';
import type { Change, Rehearsal, Snapshot, Transaction } from '../../state/types.ts';
import type { ActState, ServerContext } from '../context.ts';
import { drainSlice } from '../nodes/drainer.ts';
import { clusterView } from '../scheduling/cluster-view.ts';
import { commitDecision } from '../scheduling/evaluations/commit.ts';
import { perform } from './perform.ts';

export interface Rehearsing {
  readonly context: ServerContext;
  /** The scheduler configuration for an evaluation. */
  readonly configuration: (
    snapshot: Snapshot,
    evaluation: Pick<Evaluation, 'Namespace' | 'JobID'>,
  ) => SchedulerConfiguration;
}

export interface RehearsedAct {
  readonly rehearsal: Rehearsal;
  readonly act: Act;
  readonly ids: Ids;
  /** The changes of the act itself. */
  readonly changes: readonly Change[];
  readonly warnings: string;
}

/** A decision of the scheduler in a rehearsal. */
export interface RehearsedDecision {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  readonly nowMs: number;
  readonly result: SchedulerResult;
  readonly outline: Outline;
  /** 0: the act itself made the evaluation. */
  readonly wave: number;
  /** Whether it is a decision of a drain whose deadline has passed. */
  readonly isForced: boolean;
}

/** @throws RosterError as the act */
export async function rehearseAct(
  { context }: Rehearsing,
  act: Act,
  accessor: string,
  ids: Ids,
): Promise<RehearsedAct> {
  const rehearsal = context.state.rehearse();
  let changes: readonly Change[] = [];
  const state: ActState = {
    isFull: context.state.isFull,
    read: () => rehearsal.now(),
    head: () => rehearsal.now(),
    peek: (look) => look(rehearsal.now()),
    async write(run) {
      const rehearsed = rehearsal.run(run);
      changes = rehearsed.changes;
      return rehearsed;
    },
  };
  const world = worldWith(context.world, ids);
  const { Warnings: warnings } = await perform({ ...context, world, state }, act, accessor);
  return { rehearsal, act, ids, changes, warnings };
}

export const worldWith = (
  { clock, processor, timers, random, secrets }: World,
  ids: Ids,
): ServerContext['world'] => ({ clock, processor, timers, random, secrets, ids });

/** Decides what follows from an act that was rehearsed. */
export function* decideRehearsed(
  tools: Rehearsing,
  rehearsed: RehearsedAct,
  elapsedNs: () => number,
): Steps<readonly RehearsedDecision[]> {
  const { act, changes } = rehearsed;
  const decide = decidingIn(tools, rehearsed, elapsedNs);
  const decisions: RehearsedDecision[] = [];
  for (const evaluation of pendingIn(changes)) decisions.push(yield* decide(evaluation, 0));
  if (act.Kind === 'drain' && act.DrainSpec !== null) {
    yield* drainSteps(tools, rehearsed, act.NodeID, { decide, decisions });
  } else if (act.Kind === 'eligibility' && act.Eligibility === 'eligible') {
    for (const evaluation of blockedIn(rehearsed.rehearsal.now())) {
      const decision = yield* decide(evaluation, 1);
      if (decision.outline.changes.length > 0) decisions.push(decision);
    }
  }
  return decisions;
}

type Decide = (
  evaluation: Evaluation,
  wave: number,
  isForced?: boolean,
) => Steps<RehearsedDecision>;

const decidingIn = (
  { context, configuration }: Rehearsing,
  { rehearsal, ids }: RehearsedAct,
  elapsedNs: () => number,
): Decide =>
  function* (evaluation, wave, isForced = false) {
    yield;
    const snapshot = rehearsal.now();
    const view = clusterView(snapshot, configuration(snapshot, evaluation));
    const nowMs = context.world.clock.nowMs();
    const result = yield* scheduleSteps(view, evaluation, { nowMs, ids, elapsedNs });
    const outline = outlineOf(result.plan, (namespace, id) =>
      snapshot.table(allocations).get(...inNamespace(namespace, id)),
    );
    const world = worldWith(context.world, ids);
    rehearsal.run((transaction) => commitDecision(transaction, { world }, evaluation, result));
    return { view, evaluation, nowMs, result, outline, wave, isForced };
  };

/** The evaluations that were made and are not decided, in the order in which the scheduler takes them. */
function pendingIn(changes: readonly Change[]): readonly Evaluation[] {
  const found = new Map<string, Evaluation>();
  for (const { table, after } of changes) {
    if (table === evaluations.name && after !== undefined) {
      found.set((after as Evaluation).ID, after as Evaluation);
    }
  }
  return [...found.values()].filter((one) => !isTerminalEvaluation(one)).sort(inOrder);
}

/** By priority, then by age. The order of evaluations of one transaction stays. */
const inOrder = (left: Evaluation, right: Evaluation): number =>
  right.Priority - left.Priority || left.CreateIndex - right.CreateIndex;

function blockedIn(snapshot: Snapshot): readonly Evaluation[] {
  const found = [...snapshot.table(evaluations).by('open').scan()].filter(
    ({ Status }) => Status === 'blocked',
  );
  return found.sort(inOrder).slice(0, limits.plan.blockedMax);
}

/**
 * Round after round, as the drainer goes on once the replacements of a round are healthy. Allocations that would wait
 * until the deadline move in a last round.
 */
function* drainSteps(
  { context }: Rehearsing,
  { rehearsal, ids }: RehearsedAct,
  nodeId: string,
  { decide, decisions }: { readonly decide: Decide; readonly decisions: RehearsedDecision[] },
): Steps<void> {
  const world = worldWith(context.world, ids);
  const now = () => rehearsal.now().table(nodes).get(nodeId);
  let isForced = false;
  let wave = 0;
  while (wave < limits.plan.wavesMax && now()?.Drain === true) {
    const { changes } = rehearsal.run((transaction) =>
      drainSlice(transaction, world, [nodeId], new Set()),
    );
    if (now()?.Drain !== true) return;
    const pending = pendingIn(changes);
    if (pending.length === 0) {
      if (isForced || now()?.DrainStrategy?.ForceDeadline === null) return;
      isForced = true;
      rehearsal.run((transaction) => passDeadline(transaction, nodeId, world.clock.nowMs()));
      continue;
    }
    wave++;
    for (const evaluation of pending) {
      const decision = yield* decide(evaluation, wave, isForced);
      decisions.push(decision);
      rehearsal.run((transaction) => settle(transaction, decision));
    }
  }
}

function passDeadline(transaction: Transaction, nodeId: string, nowMs: number): void {
  const node = transaction.table(nodes).get(nodeId) as Node;
  const DrainStrategy = node.DrainStrategy && {
    ...node.DrainStrategy,
    ForceDeadline: formatInstant(nowMs),
  };
  transaction.table(nodes).put({ ...node, DrainStrategy });
}

/** The new allocations are healthy now, and the stopped ones have ended. */
function settle(transaction: Transaction, { result: { plan } }: RehearsedDecision): void {
  const table = transaction.table(allocations);
  const change = (id: string, fields: Partial<Allocation>) => {
    const one = table.get(...inNamespace(plan.namespace, id));
    if (one !== undefined) table.put({ ...one, ...fields });
  };
  const DeploymentStatus = { Healthy: true, Timestamp: null, Canary: false, ModifyIndex: 0 };
  for (const { ID } of plan.placements) change(ID, { ClientStatus: 'running', DeploymentStatus });
  for (const { allocationId, desiredStatus } of plan.stops) {
    if (desiredStatus !== 'run') change(allocationId, { ClientStatus: 'complete' });
  }
}
