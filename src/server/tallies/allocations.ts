import {
  type Allocation,
  type ClientStatus,
  clientStatuses,
} from '../../model/allocation/allocation.ts';
import { allocations } from '../../state/tables.ts';
import { byJob, Counts, jobLabel } from './counts.ts';
import { columnsOf, Tally } from './tally.ts';

const endedStatuses = ['complete', 'failed', 'lost'] as const;

const columns = columnsOf(clientStatuses);
const endedColumns: Partial<Record<ClientStatus, number>> = Object.fromEntries(
  endedStatuses.map((status, at) => [status, clientStatuses.length + at]),
);
const placedColumn = clientStatuses.length + endedStatuses.length;
const restartsColumn = placedColumn + 1;

/** Allocations by client status, and the events of allocations since the counting began. */
export class AllocationTally extends Tally<Allocation> {
  readonly table = allocations;
  readonly counts = new Counts(restartsColumn + 1, byJob);
  readonly statuses = columns;
  readonly ended = endedColumns;
  readonly placedColumn = placedColumn;
  readonly restartsColumn = restartsColumn;

  protected count({ Namespace, JobID, ClientStatus }: Allocation, by: 1 | -1): void {
    const group = this.counts.at(Namespace, jobLabel(JobID));
    group.add(columns[ClientStatus], by);
    group.hold(by);
  }

  override change(before: Allocation | undefined, after: Allocation | undefined): void {
    const hasMoved = before?.ClientStatus !== after?.ClientStatus;
    if (hasMoved) super.change(before, after);
    if (after === undefined) return;
    const restarts = before === undefined ? 0 : restartsOf(after) - restartsOf(before);
    if (!hasMoved && restarts <= 0) return;
    const group = this.counts.at(after.Namespace, jobLabel(after.JobID));
    if (restarts > 0) group.add(restartsColumn, restarts);
    if (before === undefined) group.add(placedColumn, 1);
    const column = hasMoved ? endedColumns[after.ClientStatus] : undefined;
    if (column !== undefined) group.add(column, 1);
  }
}

function restartsOf({ TaskStates }: Allocation): number {
  let sum = 0;
  for (const task of Object.keys(TaskStates)) sum += TaskStates[task]!.Restarts;
  return sum;
}
