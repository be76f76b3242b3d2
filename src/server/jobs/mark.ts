import { instantFromMs } from '../../base/instant.ts';
import {
  type Allocation,
  type DesiredTransition,
  noTransition,
} from '../../model/allocation/allocation.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import { allocations, inNamespace } from '../../state/tables.ts';
import type { ServerContext } from '../context.ts';

/**
 * Sets a desired transition of those allocations of the job that `concerns` selects. It does so in
 * several transactions, since there may be tens of thousands; an allocation that changes meanwhile
 * is looked at again.
 */
export async function markAllocations(
  { state, world }: Pick<ServerContext, 'state' | 'world'>,
  { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>,
  concerns: (allocation: Allocation) => boolean,
  wish: Partial<DesiredTransition>,
): Promise<void> {
  const range = { prefix: inNamespace(Namespace, ID) };
  const ids: string[] = [];
  for (const one of state.head().table(allocations).by('job').scan(range)) {
    if (concerns(one)) ids.push(one.ID);
  }
  const { markedPerTransactionMax } = limits.allocation;
  for (let start = 0; start < ids.length; start += markedPerTransactionMax) {
    const part = ids.slice(start, start + markedPerTransactionMax);
    await state.write((transaction) => {
      const table = transaction.table(allocations);
      for (const id of part) {
        const allocation = table.get(...inNamespace(Namespace, id));
        if (allocation === undefined || !concerns(allocation)) continue;
        table.put({
          ...allocation,
          DesiredTransition: { ...noTransition, ...allocation.DesiredTransition, ...wish },
          AllocModifyIndex: transaction.index,
          ModifyTime: instantFromMs(world.clock.nowMs()),
        });
      }
    });
  }
}
