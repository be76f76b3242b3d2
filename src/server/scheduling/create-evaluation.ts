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
  /** Absent or 0: the job's priority. */
  readonly priority?: number;
  readonly node?: { readonly ID: string; readonly ModifyIndex: number };
  /** The deployment whose next step the evaluation is for. */
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

/** Stores a pending evaluation; the broker takes it up once it is durable. */
export function createEvaluation(
  transaction: Transaction,
  world: Pick<World, 'clock' | 'ids'>,
  wanted: NewEvaluation,
): Evaluation {
  return transaction.table(evaluations).put(newEvaluation(world, wanted));
}

/**
 * The job of an allocation, for an evaluation. If the job was purged, the evaluation that placed
 * the allocation tells its type and priority.
 */
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
