import { instantFromMs } from '../../base/instant.ts';
import { noTransition } from '../../model/allocation/allocation.ts';
import {
  isClientTerminal,
  isServerTerminal,
  isTerminal,
} from '../../model/allocation/allocation-rules.ts';
import { refusal } from '../../model/errors.ts';
import { allocations } from '../../state/tables.ts';
import { rowWithId } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import { createEvaluation, evaluatedJob } from '../scheduling/create-evaluation.ts';

export interface AllocationStop {
  readonly noShutdownDelay: boolean;
  /**
   * Counts the allocation as failed: its replacement keeps the reschedule tracker and avoids the
   * node. If false, the allocation is migrated, and its replacement may come to the same node.
   */
  readonly reschedule: boolean;
}

/**
 * Asks for an allocation to be stopped and, if its job still wants it, replaced. Of an allocation
 * that has ended only the job is evaluated; of a job that is gone, the evaluation stops everything
 * that is left.
 * @throws RosterError `allocation-not-found`
 */
export async function stopAllocation(
  { state, world }: ServerContext,
  id: string,
  { noShutdownDelay, reschedule }: AllocationStop,
): Promise<{ readonly index: number; readonly evaluationId: string }> {
  const { index, value } = await state.write((transaction) => {
    const allocation = rowWithId(transaction.table(allocations), id);
    if (allocation === undefined) throw refusal('allocation-not-found', { id });
    if (!isTerminal(allocation)) {
      transaction.table(allocations).put({
        ...allocation,
        DesiredTransition: {
          ...(allocation.DesiredTransition ?? noTransition),
          ...(reschedule ? { Reschedule: true, ForceReschedule: true } : { Migrate: true }),
          NoShutdownDelay: noShutdownDelay || null,
        },
        AllocModifyIndex: transaction.index,
        ModifyTime: instantFromMs(world.clock.nowMs()),
      });
    }
    if (isServerTerminal(allocation) && !isClientTerminal(allocation) && noShutdownDelay) {
      // The task may be waiting for its shutdown delay.
      transaction.table(allocations).put({
        ...allocation,
        DesiredTransition: { ...allocation.DesiredTransition, NoShutdownDelay: true },
        AllocModifyIndex: transaction.index,
        ModifyTime: instantFromMs(world.clock.nowMs()),
      });
    }
    // Any evaluation of a job that is gone stops what is left of it.
    const job = evaluatedJob(transaction, allocation);
    return createEvaluation(transaction, world, { job, triggeredBy: 'alloc-stop' }).ID;
  });
  return { index, evaluationId: value };
}
