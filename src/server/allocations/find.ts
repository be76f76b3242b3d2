import type { Allocation } from '../../model/allocation/allocation.ts';
import { allocations } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';

/** Ids are unique over all namespaces. */
export function findAllocation(transaction: Transaction, id: string): Allocation | undefined {
  if (id.includes('\0')) return undefined;
  const [allocation] = transaction
    .table(allocations)
    .by('id')
    .scan({ prefix: [id] });
  return allocation;
}
