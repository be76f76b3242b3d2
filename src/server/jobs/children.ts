import type { World } from '../../base/ports.ts';
import type { Evaluation, EvaluationTrigger } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { isEvaluated } from '../../model/job/job-rules.ts';
import type { Transaction } from '../../state/types.ts';
import { createEvaluation } from '../scheduling/create-evaluation.ts';
import { refreshJobStatus } from '../scheduling/job-status.ts';
import { writeVersion } from './register.ts';

export interface Born {
  readonly job: Job;
  /** None where the child is itself a pattern. */
  readonly evaluation: Evaluation | undefined;
}

/** Writes what was made of a pattern, counts it and asks the scheduler to look at it. */
export function registerChild(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
  child: Job,
  triggeredBy: EvaluationTrigger,
): Born {
  const job = writeVersion(transaction, child);
  const evaluation = isEvaluated(job)
    ? createEvaluation(transaction, world, { job, triggeredBy })
    : undefined;
  refreshJobStatus(transaction, job.Namespace, job.ID);
  return { job, evaluation };
}
