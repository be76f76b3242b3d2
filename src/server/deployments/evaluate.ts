import type { Deployment } from '../../model/deployment/deployment.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { createEvaluation } from '../scheduling/create-evaluation.ts';

/**
 * Asks the scheduler for the next step of the deployment.
 * Source: docs/behaviour/evaluations.md#triggers.
 */
export const evaluateDeployment = (
  transaction: Transaction,
  world: ServerContext['world'],
  { ID, EvalPriority }: Deployment,
  job: Job,
): Evaluation =>
  createEvaluation(transaction, world, {
    job,
    triggeredBy: 'deployment-watcher',
    priority: EvalPriority,
    deploymentId: ID,
  });
