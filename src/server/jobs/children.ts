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
  /** `undefined`: the child is itself periodic or parameterized, and so is not evaluated. */
  readonly evaluation: Evaluation | undefined;
}

/** Stores a child of a periodic or parameterized job, counts it and makes its evaluation. */
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
