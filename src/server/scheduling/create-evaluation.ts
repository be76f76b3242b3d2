import { instantFromMs } from '../../base/instant.ts';
import type { World } from '../../base/ports.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import {
  type Evaluation,
  type EvaluationTrigger,
  unbegun,
} from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import { evaluations, inNamespace, jobs } from '../../state/tables.ts';
import type { Transaction, Unstamped } from '../../state/types.ts';

export interface NewEvaluation {
  readonly job: Pick<Job, 'ID' | 'Namespace' | 'Type' | 'Priority' | 'JobModifyIndex'>;
  readonly triggeredBy: EvaluationTrigger;
  /** The job's own when absent or 0. */
  readonly priority?: number;
  readonly node?: { readonly ID: string; readonly ModifyIndex: number };
  /** What it is to bring further. */
  readonly deploymentId?: string;
}

export function newEvaluation(
  world: Pick<World, 'clock' | 'ids'>,
  { job, triggeredBy, priority, node, deploymentId }: NewEvaluation,
): Unstamped<Evaluation> {
  const now = instantFromMs(world.clock.nowMs());
  return {
    ...unbegun,
    ID: world.ids.uuid(),
    Namespace: job.Namespace,
    Priority: priority || job.Priority,
    Type: job.Type,
    TriggeredBy: triggeredBy,
    JobID: job.ID,
    JobModifyIndex: job.JobModifyIndex,
    ...(node && { NodeID: node.ID, NodeModifyIndex: node.ModifyIndex }),
    DeploymentID: deploymentId ?? '',
    CreateTime: now,
    ModifyTime: now,
  };
}

/** Writes a new pending evaluation; the broker takes it up once it is durable. */
export function createEvaluation(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
  wanted: NewEvaluation,
): Evaluation {
  return transaction.table(evaluations).put(newEvaluation(world, wanted));
}

/** What an evaluation says of an allocation's job. Of a purged job, the evaluation of the allocation tells. */
export function evaluatedJob(
  transaction: Transaction,
  { Namespace, JobID, EvalID }: Pick<Allocation, 'Namespace' | 'JobID' | 'EvalID'>,
): NewEvaluation['job'] {
  const job = transaction.table(jobs).get(...inNamespace(Namespace, JobID));
  if (job !== undefined) return job;
  const evaluation = transaction.table(evaluations).get(...inNamespace(Namespace, EvalID));
  return {
    ID: JobID,
    Namespace,
    Type: evaluation?.Type ?? 'service',
    Priority: evaluation?.Priority ?? limits.job.priorityDefault,
    JobModifyIndex: evaluation?.JobModifyIndex ?? 0,
  };
}
