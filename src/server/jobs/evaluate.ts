import type { Allocation } from '../../model/allocation/allocation.ts';
import { isServerTerminal } from '../../model/allocation/allocation-rules.ts';
import { refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed, isEvaluated, isPeriodic } from '../../model/job/job-rules.ts';
import { isEnabled } from '../../scheduler/reschedule.ts';
import type { ServerContext } from '../context.ts';
import { createEvaluation } from '../scheduling/create-evaluation.ts';
import { refreshJobStatus } from '../scheduling/job-status.ts';
import { storedJob } from './find.ts';
import { markAllocations } from './mark.ts';
import type { Registered } from './register.ts';

export interface EvaluationRequest {
  readonly namespace: string;
  readonly jobId: string;
  /** Replaces failed allocations now, whatever limit or delay holds for them. */
  readonly forceReschedule: boolean;
}

/**
 * Makes an evaluation of a job that has not changed.
 * Source: docs/contract/jobs.md#revert-stability-evaluation, docs/behaviour/jobs.md#evaluate.
 * @throws RosterError `job-not-found`, `job-not-evaluated`
 */
export async function evaluateJob(
  context: ServerContext,
  { namespace, jobId, forceReschedule }: EvaluationRequest,
): Promise<Omit<Registered, 'Warnings'>> {
  const { state, world } = context;
  const known = evaluatedJob(storedJob(state.head(), namespace, jobId));
  if (forceReschedule) {
    const concerns = (allocation: Allocation) => isForced(known, allocation);
    await markAllocations(context, known, concerns, { ForceReschedule: true });
  }
  const { index, value } = await state.write((transaction) => {
    const job = evaluatedJob(storedJob(transaction, namespace, jobId));
    const evaluation = createEvaluation(transaction, world, { job, triggeredBy: 'job-register' });
    refreshJobStatus(transaction, namespace, jobId);
    return { EvalID: evaluation.ID, JobModifyIndex: job.JobModifyIndex };
  });
  return { ...value, EvalCreateIndex: index, Index: index };
}

function evaluatedJob(job: Job): Job {
  if (isEvaluated(job)) return job;
  const kind = isPeriodic(job) ? 'periodic' : 'parameterized';
  throw refusal('job-not-evaluated', { job: job.ID, kind });
}

const isForced = (job: Job, allocation: Allocation): boolean =>
  allocation.ClientStatus === 'failed' &&
  !isServerTerminal(allocation) &&
  allocation.NextAllocation === '' &&
  allocation.DesiredTransition.ForceReschedule !== true &&
  allocation.JobCreateIndex === job.CreateIndex &&
  isEnabled(groupNamed(job, allocation.TaskGroup)?.ReschedulePolicy ?? null);
