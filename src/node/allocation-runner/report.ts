import type { AllocationReport } from '../../model/allocation/allocation.ts';
import { clientStatusOf } from '../../model/allocation/allocation-rules.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';

/** Published text, by which users recognize this end. */
const expiredDescription = 'Reached its maximum run duration';

export interface ReportQuestion {
  readonly id: string;
  readonly states: Readonly<Record<string, TaskState>>;
  /** The judgement on the allocation's health. */
  readonly health: Pick<AllocationReport, 'DeploymentStatus' | 'DeploymentID'>;
  /** It ended because its `MaxRunDuration` had passed. */
  readonly expired: boolean;
}

/** The report of an allocation to the servers. Pure. */
export function reportOf({ id, states, health, expired }: ReportQuestion): AllocationReport {
  const { status, description } =
    Object.keys(states).length === 0
      ? ({ status: 'failed', description: 'The job has no such task group' } as const)
      : clientStatusOf(states);
  return {
    ID: id,
    ClientStatus: status,
    ClientDescription: expired && status === 'complete' ? expiredDescription : description,
    TaskStates: states,
    ...health,
    NetworkStatus: null,
  };
}
