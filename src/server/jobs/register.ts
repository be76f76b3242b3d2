import { instantFromMs } from '../../base/instant.ts';
import { drained, type Steps } from '../../base/steps.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { type Fault, invalid, refusal } from '../../model/errors.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import { canonicalizeJobSteps } from '../../model/job/canonicalize.ts';
import { foreignFieldFaults } from '../../model/job/foreign-fields.ts';
import type { Job, JobInput } from '../../model/job/job.ts';
import {
  type Preserved,
  refusedChange,
  registeredJob,
  withLaunch,
} from '../../model/job/job-change.ts';
import { isEvaluated } from '../../model/job/job-rules.ts';
import { validateJobSteps } from '../../model/job/validate.ts';
import {
  jobWarningsSteps,
  sentencesOf,
  unknownFieldWarnings,
  warningsText,
} from '../../model/job/warnings.ts';
import { type JobSubmission, submissionBytes } from '../../model/job-submission/job-submission.ts';
import { limits } from '../../model/limits.ts';
import { below, faultAt, type Path, quote } from '../../model/path.ts';
import { isSame } from '../../model/same.ts';
import {
  allocations,
  inNamespace,
  jobSubmissions,
  jobs,
  jobVersions,
  numberPart,
} from '../../state/tables.ts';
import type { Snapshot, Transaction, Unstamped } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { requireJobPolicies } from '../job-policies/check.ts';
import { requireCapabilities } from '../namespaces/capabilities.ts';
import { requireNamespace } from '../namespaces/find.ts';
import { requireNodePool } from '../node-pools/pools.ts';
import { createEvaluation } from '../scheduling/create-evaluation.ts';
import { refreshJobStatus } from '../scheduling/job-status.ts';
import { countChild, summarizeGroups } from '../scheduling/job-summary.ts';
import { driverWarnings } from './driver-warnings.ts';
import { settleEarlierSlots } from './launches.ts';
import { followScalingPolicies } from './scaling-policies.ts';

export interface Registration extends Preserved {
  /** As it was decoded; nothing filled in yet. */
  readonly job: JobInput;
  /** Where the request says the job belongs; wins over the job's own. */
  readonly namespace: string;
  /** Of the path, when there is one: the job must be that one. */
  readonly jobId: string | undefined;
  readonly submission: Partial<JobSubmission> | undefined;
  /** Guard: the job's `JobModifyIndex` (0: there is no such job). */
  readonly enforceIndex: number | undefined;
  readonly evaluationPriority: number;
  /** Soft-mandatory job policies only advise. */
  readonly policyOverride: boolean;
  /** The version whose source is taken over where no submission comes along. */
  readonly sourceOf?: number | undefined;
  /** Whether the job may be submitted so, once it is known to be right. Throws a refusal. */
  readonly demand?: (job: Job) => void;
  /** What has to hold of what is stored when it is written. Throws a refusal. */
  readonly guard?: (transaction: Transaction, existing: Job | undefined) => void;
  /** Who submits; kept with the job. */
  readonly accessor: string;
  readonly unknownFields: readonly string[];
  /** What else is wrong with the request: told together with the faults of the job. */
  readonly faults?: readonly Fault[];
  /** More to be told to whoever submits. */
  readonly warnings?: readonly string[];
}

export interface Registered {
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly JobModifyIndex: number;
  readonly Warnings: string;
  readonly Index: number;
}

/** Takes all the steps of long work; how many at a time is its own affair. */
export type Finish = <T>(steps: Steps<T>) => T | Promise<T>;

/**
 * Registers or updates a job and asks the scheduler to look at it. `finish` admits it.
 * Source: docs/contract/jobs.md#register-a-job.
 * @throws RosterError `invalid-job`, `invalid-body`, `job-id-mismatch`, `namespace-not-found`,
 *   `job-change-refused`, `job-not-allowed`, `job-policy-violated`, `queue-full`, or a failed `EnforceIndex` guard.
 */
export async function registerJob(
  context: ServerContext,
  registration: Registration,
  finish: Finish = drained,
): Promise<Registered> {
  requireQueueRoom(context);
  const admitted = await finish(admitSteps(registration, context.region, context.state.head()));
  return registerAdmitted(context, registration, admitted);
}

/** The same for a job that is filled in and right. */
export async function registerAdmitted(
  context: ServerContext,
  registration: Registration,
  admitted: Admitted,
  evaluate: Evaluate = evaluateLater(context.world, registration.evaluationPriority),
): Promise<Registered> {
  const { world, state } = context;
  // Others may have come while it was admitted.
  requireQueueRoom(context);
  const { submission, jobId } = registration;
  const { job } = admitted;
  requireId(job, jobId);
  registration.demand?.(job);
  const warnings = [
    ...admitted.warnings,
    ...driverWarnings(state.head(), job),
    ...(registration.warnings ?? []),
  ];
  const tooLarge = submission !== undefined && isTooLarge(submission);
  if (tooLarge) warnings.push('the job source is larger than 1 MiB and was not kept');

  const { index, value } = await state.write((transaction) => {
    requireNamespace(transaction, job.Namespace);
    requireNodePool(transaction, job.NodePool);
    const existing = transaction.table(jobs).get(...inNamespace(job.Namespace, job.ID));
    guardIndex(job.ID, existing, registration.enforceIndex);
    registration.guard?.(transaction, existing);
    const submitTime = instantFromMs(world.clock.nowMs());
    const wanted = { ...job, SubmitTime: submitTime, SchedulerTokenID: registration.accessor };
    const { stored, advice } = upsertJob(transaction, wanted, existing, registration);
    if (submission !== undefined) {
      if (!tooLarge) keepSubmission(transaction, stored, submission);
    } else if (registration.sourceOf !== undefined) {
      carrySubmission(transaction, stored, registration.sourceOf);
    }
    const evaluation = evaluate(transaction, stored, existing);
    refreshJobStatus(transaction, stored.Namespace, stored.ID);
    const isTagIgnored = job.VersionTag !== null && !isSame(job.VersionTag, stored.VersionTag);
    return { evaluation, isTagIgnored, advice, jobModifyIndex: stored.JobModifyIndex };
  });
  if (value.isTagIgnored) {
    warnings.push('VersionTag is ignored: versions are tagged once they are there');
  }
  return {
    EvalID: value.evaluation?.ID ?? '',
    EvalCreateIndex: value.evaluation?.CreateIndex ?? 0,
    JobModifyIndex: value.jobModifyIndex,
    Warnings: warningsText([...warnings, ...value.advice]),
    Index: index,
  };
}

/** What makes an evaluation waits until there is room for one. @throws RosterError `queue-full` */
export function requireQueueRoom(context: Pick<ServerContext, 'openEvaluations'>): void {
  const { queueMax } = limits.evaluation;
  if (context.openEvaluations() < queueMax) return;
  throw refusal('queue-full', { queue: 'evaluation', limit: queueMax });
}

/**
 * What of the scheduler's belongs to a registration, within its transaction; `existing` is the job as
 * it was before. What it throws undoes the registration.
 */
export type Evaluate = (
  transaction: Transaction,
  stored: Job,
  existing: Job | undefined,
) => Evaluation | undefined;

/** The ordinary way: the scheduler looks at the job when the evaluation's turn comes. */
const evaluateLater =
  (world: ServerContext['world'], priority: number): Evaluate =>
  (transaction, stored) =>
    isEvaluated(stored)
      ? createEvaluation(transaction, world, { job: stored, triggeredBy: 'job-register', priority })
      : undefined;

/** @throws RosterError `job-id-mismatch` */
export function requireId({ ID }: Job, jobId: string | undefined): void {
  if (jobId !== undefined && jobId !== ID) {
    throw refusal('job-id-mismatch', { body: ID, path: jobId });
  }
}

/** A job that is filled in and right, and what its author should know. */
export interface Admitted {
  readonly job: Job;
  readonly warnings: readonly string[];
}

type Submitted = Pick<Registration, 'job' | 'namespace' | 'faults' | 'unknownFields'>;

/**
 * Fills in and checks the job, in steps; all faults at once.
 * @throws RosterError `invalid-job`, `invalid-body` where only what stands around it is wrong
 */
export function* admitSteps(
  { job: submitted, namespace, faults = [], unknownFields }: Submitted,
  region: string,
  head: Snapshot,
): Steps<Admitted> {
  const ID = submitted.ID ?? '';
  // What cannot be a key is nobody's id.
  const known = ID.includes('\0') ? undefined : head.table(jobs).get(...inNamespace(namespace, ID));
  const given = withLaunch(known, submitted);
  const Region = given.Region === 'global' ? region : (given.Region ?? region);
  const filled = { ...given, Region, Namespace: namespace };
  const job = yield* canonicalizeJobSteps(filled, { region, namespace });
  const at = below(null, 'Job');
  const ofJob = [
    ...foreignFieldFaults(unknownFields),
    ...(yield* validateJobSteps(job, at)),
    ...regionFaults(job, region, at),
  ];
  if (ofJob.length > 0) throw invalid('invalid-job', [...faults, ...ofJob]);
  if (faults.length > 0) throw invalid('invalid-body', faults);
  const warnings = sentencesOf(yield* jobWarningsSteps(job, submitted));
  return { job, warnings: [...warnings, ...unknownFieldWarnings(unknownFields)] };
}

/** One cluster is one region: a job for another one would wait here for ever. */
function regionFaults(job: Job, region: string, at: Path): Fault[] {
  if (job.Region === region) return [];
  return [faultAt(below(at, 'Region'), `must be ${quote(region)}, got ${quote(job.Region)}`)];
}

/** Source: docs/behaviour/jobs.md#guarded-registration. */
export function guardIndex(id: string, existing: Job | undefined, index: number | undefined): void {
  if (index === undefined) return;
  if (existing === undefined) {
    if (index !== 0) throw refusal('job-missing-for-index', { index, job: id });
  } else if (index === 0) {
    throw refusal('job-exists', { job: id, actual: existing.JobModifyIndex });
  } else if (index !== existing.JobModifyIndex) {
    throw refusal('job-index-conflict', { index, job: id, actual: existing.JobModifyIndex });
  }
}

/**
 * Writes the job as a new version, or leaves it alone when nothing of it changed.
 * Source: docs/behaviour/jobs.md#versions-and-indexes, #preserved-counts-and-resources.
 */
function upsertJob(
  transaction: Transaction,
  submitted: Job,
  stored: Job | undefined,
  { policyOverride, ...preserved }: Preserved & Pick<Registration, 'policyOverride'>,
): { readonly stored: Job; readonly advice: readonly string[] } {
  const reason = refusedChange(stored, submitted);
  if (reason !== undefined) throw refusal('job-change-refused', { job: submitted.ID, reason });
  const next = registeredJob(stored, submitted, preserved);
  requireCapabilities(transaction, next);
  const advice = requireJobPolicies(transaction, next, { override: policyOverride });
  return { stored: next === stored ? stored : writeVersion(transaction, next), advice };
}

/** Writes the current row and its version, and keeps only the newest versions. */
export function writeVersion(transaction: Transaction, job: Unstamped<Job>): Job {
  const table = transaction.table(jobs);
  const before = table.get(...inNamespace(job.Namespace, job.ID));
  const stored = table.put({ ...job, JobModifyIndex: transaction.index });
  transaction.table(jobVersions).put(stored);
  summarizeGroups(transaction, stored);
  followScalingPolicies(transaction, stored);
  countChild(transaction, stored, before?.Status, stored.Status);
  pruneVersions(transaction, stored);
  settleEarlierSlots(transaction, before, stored);
  return stored;
}

/**
 * Keeps `versionsKept` untagged versions, the highest stable one among them, and those that some
 * allocation still runs.
 * Source: docs/behaviour/jobs.md#versions-that-are-kept.
 */
function pruneVersions(transaction: Transaction, { Namespace, ID }: Job): void {
  const table = transaction.table(jobVersions);
  const prefix = inNamespace(Namespace, ID);
  const newestFirst = [...table.scan({ prefix, reverse: true })];
  const untagged = newestFirst.filter((version) => version.VersionTag === null);
  const stable = untagged.find((version) => version.Stable);
  const kept = untagged.slice(0, limits.job.versionsKept);
  if (kept.length === untagged.length) return;
  if (stable !== undefined && !kept.includes(stable)) kept.splice(-1, 1, stable);
  const inUse = new Set<number>();
  for (const allocation of transaction.table(allocations).by('job').scan({ prefix })) {
    if (!isClientTerminal(allocation)) inUse.add(allocation.JobVersion);
  }
  for (const version of untagged) {
    if (kept.includes(version) || inUse.has(version.Version)) continue;
    table.delete(...prefix, numberPart(version.Version));
  }
}

const isTooLarge = (submission: Partial<JobSubmission>): boolean =>
  submissionBytes({ Source: '', Variables: '', VariableFlags: null, ...submission }) >
  limits.job.submissionBytesMax;

/** A version made of an earlier one has its source as well. */
export function carrySubmission(transaction: Transaction, job: Job, fromVersion: number): void {
  const key = inNamespace(job.Namespace, job.ID, numberPart(fromVersion));
  const source = transaction.table(jobSubmissions).get(...key);
  if (source !== undefined) keepSubmission(transaction, job, source);
}

/** Source: docs/behaviour/jobs.md#sources. What a version already has is never overwritten. */
function keepSubmission(
  transaction: Transaction,
  job: Job,
  { Format = 'json', Source = '', VariableFlags = null, Variables = '' }: Partial<JobSubmission>,
): void {
  const table = transaction.table(jobSubmissions);
  const prefix = inNamespace(job.Namespace, job.ID);
  if (table.has(...prefix, numberPart(job.Version))) return;
  const { ID: JobID, Namespace, Version, JobModifyIndex: JobIndex } = job;
  table.put({ Format, Source, VariableFlags, Variables, JobID, Namespace, Version, JobIndex });
  const oldest = [...table.scan({ prefix })].slice(0, -limits.job.submissionsKept);
  for (const { Version: version } of oldest) table.delete(...prefix, numberPart(version));
}
