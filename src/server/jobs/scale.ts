import { instantFromMs } from '../../base/instant.ts';
import { isTerminalDeployment } from '../../model/deployment/deployment.ts';
import { type Fault, invalid, refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed, isEvaluated } from '../../model/job/job-rules.ts';
import { countFaults, type ScaleRequest, scaleFaults, withCount } from '../../model/job/scale.ts';
import {
  jobWarnings,
  sentencesOf,
  unknownFieldWarnings,
  warningsText,
} from '../../model/job/warnings.ts';
import { limits } from '../../model/limits.ts';
import { below, faultAt, quote } from '../../model/path.ts';
import type { ScalingEvent } from '../../model/scaling-event/scaling-event.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { deployments, inNamespace, jobs, scalingEvents } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ActContext } from '../context.ts';
import { requireJobPolicies } from '../job-policies/check.ts';
import { requireCapabilities } from '../namespaces/capabilities.ts';
import { createEvaluation } from '../scheduling/create-evaluation.ts';
import { refreshJobStatus } from '../scheduling/job-status.ts';
import { carrySubmission, guardIndex, requireQueueRoom, writeVersion } from './register.ts';

export interface Scale {
  readonly namespace: string;
  readonly jobId: string;
  /** Without a `Count` the request only adds an event to the group. */
  readonly request: ScaleRequest;
  /** Guard: the job's `JobModifyIndex`. */
  readonly enforceIndex: number | undefined;
  /** Soft-mandatory job policies only advise. */
  readonly policyOverride: boolean;
  readonly unknownFields: readonly string[];
  /** Faults of the rest of the request, reported together with the faults of the scaling. */
  readonly faults: readonly Fault[];
}

/** `EvalID` and `EvalCreateIndex` are there if an evaluation was made. */
export interface Scaled {
  readonly EvalID?: string;
  readonly EvalCreateIndex?: number;
  readonly JobModifyIndex: number;
  readonly Warnings: string;
  readonly Index: number;
}

/**
 * Sets the count of a group as a new version of the job, and adds an event to the group.
 * Source: docs/contract/jobs.md#scale-a-group, and for the order of the checks
 * docs/behaviour/jobs.md#scale.
 * @throws RosterError `invalid-body`, `job-not-found`, `deployment-active`, `job-not-allowed`,
 * `job-policy-violated`, `queue-full`, or a failed `EnforceIndex` guard
 */
export async function scaleJob(context: ActContext, scale: Scale): Promise<Scaled> {
  const { namespace, jobId, request } = scale;
  const faults = [...scale.faults, ...scaleFaults(request, { namespace, jobId })];
  if (faults.length > 0) throw invalid('invalid-body', faults);
  if (request.Count != null) requireQueueRoom(context);
  const { index, value } = await context.state.write((transaction) => {
    const before = transaction.table(jobs).get(...inNamespace(namespace, jobId));
    if (before === undefined) throw refusal('job-not-found', { job: jobId, namespace });
    const group = requireGroup(before, request.Target!.Group!);
    const scaled = changeCount(context, transaction, { job: before, group, scale });
    keepEvent(transaction, scaled.job, {
      Time: instantFromMs(context.world.clock.nowMs()),
      Count: request.Count ?? null,
      PreviousCount: group.Count,
      Message: request.Message ?? '',
      Error: request.Error ?? '',
      Meta: request.Meta ?? null,
      EvalID: scaled.evaluation?.ID ?? null,
      TaskGroup: group.Name,
    });
    return scaled;
  });
  const { job, evaluation, advice } = value;
  const unknown = unknownFieldWarnings(scale.unknownFields);
  return {
    ...(evaluation && { EvalID: evaluation.ID, EvalCreateIndex: evaluation.CreateIndex }),
    JobModifyIndex: job.JobModifyIndex,
    Warnings: warningsText([...advice, ...unknown]),
    Index: index,
  };
}

/** @throws RosterError `invalid-body`, since the body names the group */
function requireGroup(job: Job, name: string): TaskGroup {
  const group = groupNamed(job, name);
  if (group !== undefined) return group;
  const all = job.TaskGroups.map(({ Name }) => quote(Name)).slice(0, limits.fault.listedMax);
  const message = `must be a group of the job, which has ${all.join(', ')}, got ${quote(name)}`;
  throw invalid('invalid-body', [faultAt(below(null, 'Target', 'Group'), message)]);
}

interface Wanted {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly scale: Scale;
}

/** Returns the job afterwards; without a count, the job as it is. */
function changeCount(
  { world }: ActContext,
  transaction: Transaction,
  { job, group, scale }: Wanted,
) {
  const { Count: count } = scale.request;
  if (count == null) {
    guardIndex(job.ID, job, scale.enforceIndex);
    return { job, evaluation: undefined, advice: [] };
  }
  const faults = countFaults(job, group, count);
  if (faults.length > 0) throw invalid('invalid-body', faults);
  refuseWhileDeployed(transaction, job);
  guardIndex(job.ID, job, scale.enforceIndex);
  const wanted = withCount(job, group.Name, count);
  requireCapabilities(transaction, wanted);
  const advice = [
    ...newWarnings(job, wanted),
    ...requireJobPolicies(transaction, wanted, { override: scale.policyOverride }),
  ];
  const written = writeVersion(transaction, {
    ...wanted,
    Version: job.Version + 1,
    VersionTag: null,
    Stable: false,
    SubmitTime: instantFromMs(world.clock.nowMs()),
  });
  carrySubmission(transaction, written, job.Version);
  const evaluation = isEvaluated(written)
    ? createEvaluation(transaction, world, { job: written, triggeredBy: 'job-scaling' })
    : undefined;
  refreshJobStatus(transaction, job.Namespace, job.ID);
  return { job: written, evaluation, advice };
}

/** A changed count would spoil the deployment that is under way. */
function refuseWhileDeployed(transaction: Transaction, job: Job): void {
  const prefix = inNamespace(job.Namespace, job.ID);
  for (const one of transaction.table(deployments).by('job').scan({ prefix })) {
    if (one.JobCreateIndex !== job.CreateIndex || isTerminalDeployment(one)) continue;
    throw refusal('deployment-active', { job: job.ID, deployment: one.ID });
  }
}

/** Warnings that the new count causes; the caller who registered the job got the others. */
function newWarnings(before: Job, after: Job): string[] {
  const known = new Set(sentencesOf(jobWarnings(before)));
  const warnings = sentencesOf(jobWarnings(after)).filter((sentence) => !known.has(sentence));
  if (after.Stop) {
    warnings.push(`The job "${after.ID}" is stopped: the count holds once it is started again.`);
  }
  return warnings;
}

/** Keeps only the newest events. Source: docs/behaviour/jobs.md#scale. */
function keepEvent(
  transaction: Transaction,
  { Namespace, ID: JobID }: Job,
  { TaskGroup, ...event }: Omit<ScalingEvent, 'CreateIndex'> & { readonly TaskGroup: string },
): void {
  const table = transaction.table(scalingEvents);
  const earlier = table.get(...inNamespace(Namespace, JobID, TaskGroup))?.Events ?? [];
  const Events = [{ ...event, CreateIndex: transaction.index }, ...earlier];
  table.put({ Namespace, JobID, TaskGroup, Events: Events.slice(0, limits.scaling.eventsKept) });
}
