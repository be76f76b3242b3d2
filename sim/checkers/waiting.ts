/** What the state says that is still to come of a job. */
import { type Evaluation, isTerminalEvaluation } from '../../src/model/evaluation/evaluation.ts';
import type { Job } from '../../src/model/job/job.ts';
import { deployments, evaluations } from '../../src/state/tables.ts';
import type { Account } from '../account.ts';
import type { Run } from '../run.ts';

export function openEvaluations(account: Account): readonly Evaluation[] {
  return [...account.rows(evaluations).values()].filter((one) => !isTerminalEvaluation(one));
}

/** What has just happened on a machine, nobody knows yet. */
export const isNews = ({ changedMs }: Pick<Run, 'changedMs'>, elapsedMs: number): boolean =>
  elapsedMs - changedMs < reportMs;

const reportMs = 5000;

/** Its tasks end with a fault. */
export const isBroken = (job: Job): boolean =>
  job.TaskGroups.some(({ Tasks }) =>
    Tasks.some(
      ({ Config }) => Number((Config as { exit_code?: number } | null)?.exit_code ?? 0) !== 0,
    ),
  );

/** Its newest version was given up: what there is of it stays as it is. */
export function isHalted({ Namespace, ID, Version, CreateIndex }: Job, account: Account): boolean {
  for (const one of account.rows(deployments).values()) {
    const isIts = one.Namespace === Namespace && one.JobID === ID;
    const isOfVersion = one.JobVersion === Version && one.JobCreateIndex === CreateIndex;
    if (isIts && isOfVersion && one.Status === 'failed') return true;
  }
  return false;
}

/** Others are made of it, and it does not run itself. */
export const isPattern = ({ Periodic, ParameterizedJob, Dispatched }: Job): boolean =>
  Periodic !== null || (ParameterizedJob !== null && !Dispatched);
