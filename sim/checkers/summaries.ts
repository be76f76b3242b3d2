import type { ClientStatus } from '../../src/model/allocation/allocation.ts';
import { isTerminalDeployment } from '../../src/model/deployment/deployment.ts';
import type { Job } from '../../src/model/job/job.ts';
import { deployments, jobSummaries, jobs } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import { isLive } from '../account.ts';
import type { Checker, Fault } from './checker.ts';
import { isPattern, openEvaluations } from './waiting.ts';

const counters: readonly (readonly ['Starting' | 'Running' | 'Lost' | 'Unknown', ClientStatus])[] =
  [
    ['Starting', 'pending'],
    ['Running', 'running'],
    ['Lost', 'lost'],
    ['Unknown', 'unknown'],
  ];

/** At rest, a job's status and the counters of its summary agree with its allocations. */
export const summariesAddUp = (): Checker => ({
  guarantee: "a job's status and summary agree with its allocations",
  rested({ account }, fault) {
    for (const job of account.rows(jobs).values()) {
      checkCounters(job, account, fault);
      const expected = statusOf(job, account);
      if (job.Status !== expected) fault(`${job.ID} is ${job.Status} and should be ${expected}`);
    }
  },
});

function checkCounters({ ID, Namespace, CreateIndex }: Job, account: Account, fault: Fault): void {
  const own = [...account.allocationsOf({ Namespace, JobID: ID })].filter(
    ({ JobCreateIndex }) => JobCreateIndex === CreateIndex,
  );
  const summary = [...account.rows(jobSummaries).values()].find(
    (one) => one.JobID === ID && one.Namespace === Namespace,
  );
  if (summary === undefined) {
    fault(`${ID} has no summary`);
    return;
  }
  for (const [counter, status] of [
    ['Pending', 'pending'],
    ['Running', 'running'],
  ] as const) {
    const there = [...account.rows(jobs).values()].filter(
      (one) => one.ParentID === ID && one.Status === status,
    ).length;
    const told = summary.Children[counter];
    if (told !== there) fault(`${ID} counts ${told} ${status} children instead of ${there}`);
  }
  for (const [group, told] of Object.entries(summary.Summary)) {
    for (const [counter, status] of counters) {
      const count = own.filter(
        (one) => one.TaskGroup === group && one.ClientStatus === status,
      ).length;
      // Lost allocations still count after they were deleted.
      const isSo = counter === 'Lost' ? told.Lost >= count : told[counter] === count;
      if (isSo) continue;
      fault(`${ID}.${group} counts ${told[counter]} ${counter} instead of ${count}`);
    }
  }
}

/** Source: docs/behaviour/jobs.md#the-status-of-a-job. */
function statusOf(job: Job, account: Account): Job['Status'] {
  const { ID, Namespace, Type, Stop } = job;
  if (Type === 'system' || isPattern(job)) return Stop ? 'dead' : 'running';
  for (const one of account.allocationsOf({ Namespace, JobID: ID })) {
    if (isLive(one)) return 'running';
  }
  for (const one of account.rows(deployments).values()) {
    if (one.JobID === ID && !isTerminalDeployment(one)) return 'running';
  }
  const isOpen = openEvaluations(account).some(({ JobID }) => JobID === ID);
  return isOpen ? 'pending' : 'dead';
}
