import type { AllocationRunner } from './allocation-runner/allocation-runner.ts';
import type { Assignment } from './server-api.ts';

/** The work of this node after the servers' newest list. */
export interface AssignmentChanges {
  readonly begin: readonly Assignment[];
  readonly update: readonly Assignment[];
  /** Ids of allocations that the servers no longer want here. */
  readonly stop: readonly string[];
}

type Known = Pick<AllocationRunner, 'id' | 'allocation' | 'isDone'>;

export function compareAssignments(
  runners: ReadonlyMap<string, Known>,
  assignments: readonly Assignment[],
): AssignmentChanges {
  const wanted = new Set(assignments.map(({ Allocation }) => Allocation.ID));
  const known = assignments.filter(({ Allocation }) => runners.has(Allocation.ID));
  return {
    begin: assignments.filter(({ Allocation }) => !runners.has(Allocation.ID)),
    update: known.filter(({ Allocation }) => {
      const runner = runners.get(Allocation.ID)!;
      const { AllocModifyIndex } = runner.allocation;
      return !runner.isDone && Allocation.AllocModifyIndex !== AllocModifyIndex;
    }),
    stop: [...runners.values()]
      .filter(({ id, isDone }) => !isDone && !wanted.has(id))
      .map(({ id }) => id),
  };
}
