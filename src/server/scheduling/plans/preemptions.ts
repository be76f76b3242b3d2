import { instantFromMs } from '../../../base/instant.ts';
import type { World } from '../../../base/ports.ts';
import type { Allocation } from '../../../model/allocation/allocation.ts';
import type { Plan, PlannedPreemption } from '../../../model/plan/plan.ts';
import { evictedUpTo, versionRun } from '../../../scheduler/placing/preempt.ts';
import { type SchedulerConfiguration, schedulerDefaults } from '../../../scheduler/view.ts';
import { allocations, evaluations, inNamespace, jobs } from '../../../state/tables.ts';
import type { Snapshot, Transaction } from '../../../state/types.ts';
import { configurationIn } from '../../scheduler-configuration/read.ts';
import { clusterView } from '../cluster-view.ts';
import { createEvaluation } from '../create-evaluation.ts';
import { refreshJobStatus } from '../job-status.ts';
import type { Move } from '../job-summary.ts';

/**
 * Why an allocation must not be evicted any more: since the plan was made, priorities or the
 * setting of preemption may have changed. Whether it still runs is checked by `checkNode`.
 * Source: docs/behaviour/scheduling.md#preemption.
 */
export function undeserved(
  snapshot: Snapshot,
  plan: Plan,
  preemptions: readonly PlannedPreemption[],
): string | undefined {
  if (preemptions.length === 0) return undefined;
  // An unset configuration is that of the server, which has not changed since the plan was made.
  const { preemption } = configurationIn(snapshot, allMayEvict);
  const view = clusterView(snapshot, schedulerDefaults);
  const placements = new Map(plan.placements.map((placement) => [placement.ID, placement]));
  for (const { allocationId, namespace, byAllocationId } of preemptions) {
    const victim = snapshot.table(allocations).get(...inNamespace(namespace, allocationId));
    const successor = placements.get(byAllocationId);
    const victimJob = victim && versionRun(view, victim);
    const job = successor && versionRun(view, successor);
    if (victimJob === undefined || job === undefined) continue;
    if (!preemption[job.Type]) return `${job.Type} jobs may not evict any more`;
    if (victimJob.Priority <= evictedUpTo(job)) continue;
    return `allocation ${allocationId} is too important to make way`;
  }
  return undefined;
}

const allMayEvict: SchedulerConfiguration = {
  ...schedulerDefaults,
  preemption: { system: true, sysbatch: true, batch: true, service: true },
};

/** Evicts the allocations, and makes one evaluation for each of their jobs. */
export function applyPreemptions(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
  preemptions: readonly PlannedPreemption[],
): Move[] {
  const table = transaction.table(allocations);
  const now = instantFromMs(world.clock.nowMs());
  const moves: Move[] = [];
  for (const { allocationId, namespace, byAllocationId } of preemptions) {
    const before = table.get(...inNamespace(namespace, allocationId));
    if (before === undefined) continue;
    const after = table.put({
      ...before,
      DesiredStatus: 'evict',
      DesiredDescription: `Preempted by alloc ID ${byAllocationId}`,
      PreemptedByAllocation: byAllocationId,
      AllocModifyIndex: transaction.index,
      ModifyTime: now,
    });
    moves.push({ before, after });
  }
  evaluateJobs(
    transaction,
    world,
    moves.map(({ after }) => after),
  );
  return moves;
}

/**
 * Evicted allocations are to run elsewhere, or here when there is room again. A pending evaluation,
 * perhaps of an earlier part of the plan, has yet to see this eviction, and is enough.
 */
function evaluateJobs(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
  evicted: readonly Allocation[],
): void {
  const keyOf = ({ Namespace, JobID }: Allocation) => inNamespace(Namespace, JobID).join('\0');
  for (const { Namespace, JobID } of new Map(evicted.map((one) => [keyOf(one), one])).values()) {
    const job = transaction.table(jobs).get(...inNamespace(Namespace, JobID));
    if (job === undefined) continue;
    const range = { prefix: inNamespace(Namespace, JobID) };
    const isSeenTo = [...transaction.table(evaluations).by('open').scan(range)].some(
      ({ Status, TriggeredBy }) => Status === 'pending' && TriggeredBy === 'preemption',
    );
    if (!job.Stop && !isSeenTo) {
      createEvaluation(transaction, world, { job, triggeredBy: 'preemption' });
    }
    refreshJobStatus(transaction, Namespace, JobID);
  }
}
