import { instantFromMs } from '../../base/instant.ts';
import { noTransition } from '../../model/allocation/allocation.ts';
import { isTerminal } from '../../model/allocation/allocation-rules.ts';
import { refusal } from '../../model/errors.ts';
import { isTerminalEvaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { isEvaluated } from '../../model/job/job-rules.ts';
import {
  allocations,
  deployments,
  evaluations,
  inNamespace,
  jobSubmissions,
  jobSummaries,
  jobs,
  jobVersions,
  numberPart,
  periodicLaunches,
} from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { createEvaluation } from '../evaluations/create.ts';
import { writeVersion } from './register.ts';
import { forgetScaling } from './scaling-policies.ts';
import { refreshJobStatus } from './status.ts';
import { countChild } from './summary.ts';

export interface Stop {
  readonly namespace: string;
  readonly jobId: string;
  readonly purge: boolean;
  /** 0: the job's own. */
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
 * Stops a job and, when purging, forgets it at once. Its allocations are ended by the evaluation
 * that this makes. Source: spec/3 §3, §4.8, facts/scheduler.md §3.9.
 * @throws RosterError `job-not-found`
 */
export async function stopJob({ state, world }: ServerContext, stop: Stop): Promise<Stopped> {
  const { namespace, jobId } = stop;
  const { index, value: EvalID } = await state.write((transaction) => {
    const job = transaction.table(jobs).get(...inNamespace(namespace, jobId));
    if (job === undefined) throw refusal('job-not-found', { job: jobId, namespace });
    if (stop.noShutdownDelay) skipShutdownDelay(transaction, job, world.clock.nowMs());
    if (stop.purge) {
      purge(transaction, job, world.clock.nowMs());
    } else {
      const SubmitTime = instantFromMs(world.clock.nowMs());
      const stopped = { ...job, Stop: true, Stable: false, Version: job.Version + 1, SubmitTime };
      writeVersion(transaction, stopped);
    }
    if (!isEvaluated(job)) {
      refreshJobStatus(transaction, namespace, jobId);
      return '';
    }
    return createEvaluation(transaction, world, {
      job: { ...job, JobModifyIndex: transaction.index },
      triggeredBy: 'job-deregister',
      priority: stop.evaluationPriority,
    }).ID;
  });
  return { EvalID, EvalCreateIndex: index, JobModifyIndex: index, Index: index };
}

function skipShutdownDelay(transaction: Transaction, job: Job, nowMs: number): void {
  const table = transaction.table(allocations);
  const range = { prefix: inNamespace(job.Namespace, job.ID) };
  for (const allocation of [...table.by('job').scan(range)]) {
    if (isTerminal(allocation)) continue;
    table.put({
      ...allocation,
      DesiredTransition: {
        ...noTransition,
        ...allocation.DesiredTransition,
        NoShutdownDelay: true,
      },
      AllocModifyIndex: transaction.index,
      ModifyTime: instantFromMs(nowMs),
    });
  }
}

/**
 * Removes the job and everything that only it explains. Evaluations and allocations stay until
 * they are collected: the allocations still have to be ended, and somebody may ask what became of
 * them.
 */
function purge(transaction: Transaction, job: Job, nowMs: number): void {
  const { Namespace, ID } = job;
  const key = inNamespace(Namespace, ID);
  const range = { prefix: key };
  for (const evaluation of [...transaction.table(evaluations).by('open').scan(range)]) {
    if (isTerminalEvaluation(evaluation)) continue;
    transaction.table(evaluations).put({
      ...evaluation,
      Status: evaluation.Status === 'blocked' ? 'canceled' : 'complete',
      StatusDescription: `job ${ID} deleted`,
      ModifyTime: instantFromMs(nowMs),
    });
  }
  for (const { Version } of [...transaction.table(jobVersions).scan(range)]) {
    transaction.table(jobVersions).delete(...key, numberPart(Version));
  }
  for (const { Version } of [...transaction.table(jobSubmissions).scan(range)]) {
    transaction.table(jobSubmissions).delete(...key, numberPart(Version));
  }
  for (const deployment of [...transaction.table(deployments).by('job').scan(range)]) {
    transaction.table(deployments).delete(...inNamespace(Namespace, deployment.ID));
  }
  forgetScaling(transaction, Namespace, ID);
  transaction.table(jobSummaries).delete(...key);
  transaction.table(periodicLaunches).delete(...key);
  transaction.table(jobs).delete(...key);
  countChild(transaction, job, job.Status, 'dead');
}
