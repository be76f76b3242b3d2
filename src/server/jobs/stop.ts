import { instantFromMs } from '../../base/instant.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { isTerminalDeployment } from '../../model/deployment/deployment.ts';
import { deploymentDescriptions } from '../../model/deployment/descriptions.ts';
import { isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { isEvaluated } from '../../model/job/job-rules.ts';
import { deployments, evaluations, inNamespace } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { createEvaluation } from '../scheduling/create-evaluation.ts';
import { refreshJobStatus } from '../scheduling/job-status.ts';
import { storedJob } from './find.ts';
import { forgetJob } from './forget.ts';
import { markAllocations } from './mark.ts';
import { carrySubmission, writeVersion } from './register.ts';

export interface Stop {
  readonly namespace: string;
  readonly jobId: string;
  readonly purge: boolean;
  /** 0: the job's own priority. */
  readonly evaluationPriority: number;
  readonly noShutdownDelay: boolean;
}

export interface Stopped {
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly JobModifyIndex: number;
  readonly Index: number;
}

/**
 * Stops a job and, if asked, purges it. The evaluation that it makes ends the allocations. Stopping
 * a stopped job makes no new version. Source: docs/contract/jobs.md#stop-a-job,
 * docs/behaviour/jobs.md#stop-and-purge.
 * @throws RosterError `job-not-found`
 */
export async function stopJob(context: ServerContext, stop: Stop): Promise<Stopped> {
  const { state, world } = context;
  const { namespace, jobId } = stop;
  if (stop.noShutdownDelay) {
    const job = storedJob(state.head(), namespace, jobId);
    // Marked before the job is stopped, so that no node begins to wait.
    await markAllocations(context, job, isDelayed, { NoShutdownDelay: true });
  }
  const { index, value } = await state.write((transaction) => {
    const job = storedJob(transaction, namespace, jobId);
    const nowMs = world.clock.nowMs();
    let stopped = { JobModifyIndex: transaction.index };
    if (stop.purge) purge(transaction, job, nowMs);
    else stopped = job.Stop ? job : writeStopped(transaction, job, nowMs);
    const evaluation = isEvaluated(job)
      ? createEvaluation(transaction, world, {
          job: { ...job, ...stopped },
          triggeredBy: 'job-deregister',
          priority: stop.evaluationPriority,
        })
      : undefined;
    refreshJobStatus(transaction, namespace, jobId);
    return { EvalID: evaluation?.ID ?? '', JobModifyIndex: stopped.JobModifyIndex };
  });
  return { ...value, EvalCreateIndex: index, Index: index };
}

const isDelayed = (allocation: Allocation): boolean =>
  !isClientTerminal(allocation) && allocation.DesiredTransition.NoShutdownDelay !== true;

function writeStopped(transaction: Transaction, job: Job, nowMs: number): Job {
  const stopped = writeVersion(transaction, {
    ...job,
    Stop: true,
    Stable: false,
    VersionTag: null,
    Version: job.Version + 1,
    SubmitTime: instantFromMs(nowMs),
  });
  carrySubmission(transaction, stopped, job.Version);
  return stopped;
}

/**
 * Removes the job. Its evaluations, allocations and deployments stay until the garbage collector takes
 * them: the allocations have yet to end, and users may ask what became of them.
 */
function purge(transaction: Transaction, job: Job, nowMs: number): void {
  const range = { prefix: inNamespace(job.Namespace, job.ID) };
  for (const evaluation of [...transaction.table(evaluations).by('open').scan(range)]) {
    if (isTerminalEvaluation(evaluation)) continue;
    transaction.table(evaluations).put({
      ...evaluation,
      Status: evaluation.Status === 'blocked' ? 'canceled' : 'complete',
      StatusDescription: `job ${job.ID} deleted`,
      ModifyTime: instantFromMs(nowMs),
    });
  }
  for (const deployment of [...transaction.table(deployments).by('job').scan(range)]) {
    if (isTerminalDeployment(deployment)) continue;
    transaction.table(deployments).put({
      ...deployment,
      Status: 'cancelled',
      StatusDescription: deploymentDescriptions.jobStopped,
      ModifyTime: instantFromMs(nowMs),
    });
  }
  forgetJob(transaction, job);
}
