/** Reasons of the checkers to leave out a job: it still changes, or it cannot reach its desired state. */
import { type Evaluation, isTerminalEvaluation } from '../../src/model/evaluation/evaluation.ts';
import type { Job } from '../../src/model/job/job.ts';
import { deployments, evaluations } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Run } from '../run.ts';

export function openEvaluations(account: Account): readonly Evaluation[] {
  return [...account.rows(evaluations).values()].filter((one) => !isTerminalEvaluation(one));
}

/** Whether the servers may not know yet of the last change of the run. */
export const isNews = ({ changedMs }: Pick<Run, 'changedMs'>, elapsedMs: number): boolean =>
  elapsedMs - changedMs < reportMs;

const reportMs = 5000;

/** Whether tasks of the job fail by themselves. */
export const isBroken = (job: Job): boolean =>
  job.TaskGroups.some(({ Tasks }) =>
    Tasks.some(
      ({ Config }) => Number((Config as { exit_code?: number } | null)?.exit_code ?? 0) !== 0,
    ),
  );

/** Whether the deployment of its newest version failed, after which the job stays as it is. */
export function isHalted({ Namespace, ID, Version, CreateIndex }: Job, account: Account): boolean {
  for (const one of account.rows(deployments).values()) {
    const isIts = one.Namespace === Namespace && one.JobID === ID;
    const isOfVersion = one.JobVersion === Version && one.JobCreateIndex === CreateIndex;
    if (isIts && isOfVersion && one.Status === 'failed') return true;
  }
  return false;
}

/** Whether it is a periodic or parameterized job, which only has children. */
export const isPattern = ({ Periodic, ParameterizedJob, Dispatched }: Job): boolean =>
  Periodic !== null || (ParameterizedJob !== null && !Dispatched);
