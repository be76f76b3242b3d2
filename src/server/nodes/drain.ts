import { formatDuration } from '../../base/duration.ts';
import { formatInstant, instantFromMs } from '../../base/instant.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import { invalid } from '../../model/errors.ts';
import { labelFaults } from '../../model/labels.ts';
import { limits } from '../../model/limits.ts';
import { type DrainSpec, forceAtMs } from '../../model/node/drain.ts';
import type { Node } from '../../model/node/node.ts';
import { below } from '../../model/path.ts';
import { allocations } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ActContext, ServerContext } from '../context.ts';
import { createEvaluation, evaluatedJob } from '../scheduling/create-evaluation.ts';
import { evaluated, evaluateNode, type NodeEvaluated, storedNode } from './evaluate.ts';
import { changeNode } from './status.ts';

export interface DrainRequest {
  /** Null cancels the drain that is under way. */
  readonly spec: DrainSpec | null;
  /**
   * Makes the node eligible again: at once when canceling, otherwise when the drain is complete.
   */
  readonly markEligible: boolean;
  /** Notes of the caller about the reason. */
  readonly meta: Readonly<Record<string, string>> | null;
  /** The accessor of the caller's token. */
  readonly accessor: string;
}

/**
 * Begins, changes or cancels the drain of a node. From then on nothing is placed there; the drainer
 * decides which allocations go when (`drainer.ts`).
 * Source: docs/behaviour/nodes.md#drains, #eligibility-evaluation-purge.
 * @throws RosterError `node-not-found`, `invalid-body`
 */
export async function drainNode(
  { state, world }: ActContext,
  nodeId: string,
  request: DrainRequest,
): Promise<NodeEvaluated> {
  requireMeta(request.meta);
  const { index, value } = await state.write((transaction) => {
    const node = storedNode(transaction, nodeId);
    const nowMs = world.clock.nowMs();
    const changed =
      request.spec === null
        ? cancelled(transaction, nowMs, node, request)
        : begun(transaction, nowMs, node, { ...request, spec: request.spec });
    if (request.spec !== null) return { node: changed, ids: [] };
    const ids = node.Drain ? revokeMarks(transaction, world, changed) : [];
    const isBack =
      node.SchedulingEligibility !== 'eligible' && changed.SchedulingEligibility === 'eligible';
    const more = isBack ? evaluateNode(transaction, world, nodeId) : [];
    return { node: changed, ids: [...ids, ...more] };
  });
  return evaluated(value.ids, value.node.ModifyIndex, index);
}

function begun(
  transaction: Transaction,
  nowMs: number,
  node: Node,
  { spec, markEligible, meta, accessor }: DrainRequest & { readonly spec: DrainSpec },
): Node {
  const now = formatInstant(nowMs);
  const StartedAt = node.DrainStrategy?.StartedAt ?? now;
  const forcedMs = forceAtMs(spec, nowMs);
  const fields = {
    SchedulingEligibility: 'ineligible',
    Drain: true,
    DrainStrategy: {
      ...spec,
      ForceDeadline: forcedMs === undefined ? null : formatInstant(forcedMs),
      StartedAt,
      MarkEligible: markEligible,
    },
    LastDrain: {
      StartedAt,
      UpdatedAt: now,
      Status: 'draining' as const,
      AccessorID: accessor,
      Meta: meta ?? (node.Drain ? (node.LastDrain?.Meta ?? null) : null),
    },
  } as const;
  const details = { deadline: deadlineText(spec) };
  const message = node.Drain ? 'Node drain changed' : 'Node drain started';
  return changeNode(transaction, nowMs, node, { fields, message, subsystem: 'Drain', details });
}

export const deadlineText = ({ Deadline }: Pick<DrainSpec, 'Deadline'>): string => {
  if (Deadline === 0) return 'none';
  return Deadline < 0 ? 'now' : formatDuration(Deadline);
};

function cancelled(
  transaction: Transaction,
  nowMs: number,
  node: Node,
  { markEligible, meta, accessor }: DrainRequest,
): Node {
  const isEligible = markEligible || node.SchedulingEligibility === 'eligible';
  const SchedulingEligibility = isEligible ? 'eligible' : 'ineligible';
  if (!node.Drain) {
    if (SchedulingEligibility === node.SchedulingEligibility) return node;
    const message = 'Node marked as eligible for scheduling';
    const fields = { SchedulingEligibility } as const;
    return changeNode(transaction, nowMs, node, { fields, message, subsystem: 'Cluster' });
  }
  const LastDrain = node.LastDrain && {
    ...node.LastDrain,
    UpdatedAt: formatInstant(nowMs),
    Status: 'canceled' as const,
    AccessorID: accessor,
    Meta: meta ?? node.LastDrain.Meta,
  };
  const fields = { SchedulingEligibility, Drain: false, DrainStrategy: null, LastDrain } as const;
  const message = 'Node drain canceled';
  return changeNode(transaction, nowMs, node, { fields, message, subsystem: 'Drain' });
}

/** Unmarks allocations that have not moved yet. Returns the ids of the evaluations made. */
function revokeMarks(
  transaction: Transaction,
  world: ServerContext['world'],
  node: Node,
): string[] {
  const table = transaction.table(allocations);
  const marked = [...table.by('occupant').scan({ prefix: [node.ID] })].filter(
    (one) => !isTerminal(one) && one.DesiredTransition.Migrate === true,
  );
  const affected = new Map<string, (typeof marked)[number]>();
  for (const allocation of marked) {
    const DesiredTransition = { ...allocation.DesiredTransition, Migrate: null };
    const ModifyTime = instantFromMs(world.clock.nowMs());
    table.put({ ...allocation, DesiredTransition, ModifyTime });
    affected.set(`${allocation.Namespace}\0${allocation.JobID}`, allocation);
  }
  return [...affected.values()].map((allocation) => {
    const job = evaluatedJob(transaction, allocation);
    return createEvaluation(transaction, world, { job, triggeredBy: 'node-drain', node }).ID;
  });
}

/** @throws RosterError `invalid-body` */
function requireMeta(meta: DrainRequest['meta']): void {
  const { drainMetaMax, drainMetaTextLengthMax } = limits.node;
  const bounds = { entriesMax: drainMetaMax, textLengthMax: drainMetaTextLengthMax };
  const faults = labelFaults(meta ?? {}, below(null, 'Meta'), bounds);
  if (faults.length > 0) throw invalid('invalid-body', faults);
}
