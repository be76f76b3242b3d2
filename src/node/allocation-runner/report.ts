import type { AllocationReport } from '../../model/allocation/allocation.ts';
import { clientStatusOf } from '../../model/allocation/allocation-rules.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';

/** Published text, by which users recognize this end. */
const expiredDescription = 'Reached its maximum run duration';
const cutOffDescription = 'Stopped, as the node had no contact with the servers';

export interface ReportQuestion {
  readonly id: string;
  readonly states: Readonly<Record<string, TaskState>>;
  readonly health: Pick<AllocationReport, 'DeploymentStatus' | 'DeploymentID'>;
  /** It ended because its `MaxRunDuration` had passed. */
  readonly expired: boolean;
  /** It ended for its `StopOnClientAfter`. */
  readonly cutOff: boolean;
  /** Its tasks are meant to end by themselves. */
  readonly runsOut: boolean;
}

/** The report of an allocation to the servers. Pure. */
export function reportOf(question: ReportQuestion): AllocationReport {
  const { status, description } = statusOf(question);
  return {
    ID: question.id,
    ClientStatus: status,
    ClientDescription: description,
    TaskStates: question.states,
    ...question.health,
    NetworkStatus: null,
  };
}

function statusOf({ states, expired, cutOff, runsOut }: ReportQuestion) {
  if (Object.keys(states).length === 0) {
    return { status: 'failed', description: 'The job has no such task group' } as const;
  }
  const told = clientStatusOf(states);
  if (told.status !== 'complete' || !(cutOff || expired)) return told;
  if (expired) return { ...told, description: expiredDescription };
  // A batch allocation that is complete is never placed again.
  return { status: runsOut ? 'failed' : 'complete', description: cutOffDescription } as const;
}
