import type { AllocationReport } from '../../model/allocation/allocation.ts';
import { clientStatusOf } from '../../model/allocation/allocation-rules.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';

/** Fixed: it is how its user knows. */
const expiredDescription = 'Reached its maximum run duration';

export interface ReportQuestion {
  readonly id: string;
  readonly states: Readonly<Record<string, TaskState>>;
  /** The judgement on its health. */
  readonly health: Pick<AllocationReport, 'DeploymentStatus' | 'DeploymentID'>;
  /** It ended for its `MaxRunDuration`. */
  readonly expired: boolean;
}

/** What the servers are told of an allocation. Pure. */
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
