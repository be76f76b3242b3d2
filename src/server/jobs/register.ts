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
import type { Transaction, Unstamped } from '../../state/types.ts';
import type { ActContext, ServerContext } from '../context.ts';
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
  /** As decoded, without defaults. */
  readonly job: JobInput;
  /** The namespace of the request; it wins over that of the job. */
  readonly namespace: string;
  /** The job id of the path, which the job must have. */
  readonly jobId: string | undefined;
  readonly submission: Partial<JobSubmission> | undefined;
  /** Guard: the job's `JobModifyIndex` (0: there is no such job). */
  readonly enforceIndex: number | undefined;
  readonly evaluationPriority: number;
  /** Soft-mandatory job policies only advise. */
  readonly policyOverride: boolean;
  /** The version whose source is taken over if the request has no submission. */
  readonly sourceOf?: number | undefined;
  /**
   * Checks whether the caller may submit the job, once the job is known to be valid. Throws a
   * refusal.
   */
  readonly demand?: (job: Job) => void;
  /** Checks the stored job within the transaction that replaces it. Throws a refusal. */
  readonly guard?: (transaction: Transaction, existing: Job | undefined) => void;
  /** The accessor of the caller's token, kept with the job. */
  readonly accessor: string;
  readonly unknownFields: readonly string[];
  /** Faults of the rest of the request, reported together with the faults of the job. */
  readonly faults?: readonly Fault[];
  /** Further warnings for the caller. */
  readonly warnings?: readonly string[];
}

export interface Registered {
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly JobModifyIndex: number;
  readonly Warnings: string;
  readonly Index: number;
}

/** Takes all steps of long work, in turns with other work. */
export type Finish = <T>(steps: Steps<T>) => T | Promise<T>;

/**
 * Registers or updates a job and makes its evaluation. `finish` runs the steps of its admission.
 * Source: docs/contract/jobs.md#register-a-job.
 * @throws RosterError `invalid-job`, `invalid-body`, `job-id-mismatch`, `namespace-not-found`,
 * `job-change-refused`, `job-not-allowed`, `job-policy-violated`, `queue-full`, `store-full`, or a failed
 * `EnforceIndex` guard.
 */
export async function registerJob(
  context: ActContext,
  registration: Registration,
  finish: Finish = drained,
): Promise<Registered> {
  requireQueueRoom(context);
  const admitted = await finish(admitSteps(registration, context));
  return registerAdmitted(context, registration, admitted);
}

/** Registers a job that was admitted. */
export async function registerAdmitted(
  context: ActContext,
  registration: Registration,
  admitted: Admitted,
  evaluate: Evaluate = evaluateLater(context.world, registration.evaluationPriority),
): Promise<Registered> {
  const { world, state } = context;
  // Other evaluations may have come during the admission.
  requireQueueRoom(context);
  requireStoreRoom(context);
  const { submission, jobId } = registration;
  const { job } = admitted;
  requireId(job, jobId);
  registration.demand?.(job);
  const warnings = [
    ...admitted.warnings,
    ...state.peek((now) => driverWarnings(now, job)),
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

/** @throws RosterError `store-full` */
export function requireStoreRoom({ state }: Pick<ActContext, 'state'>): void {
  if (state.isFull) throw refusal('store-full');
}

/** @throws RosterError `queue-full` when there is no room for another evaluation */
export function requireQueueRoom(context: Pick<ServerContext, 'openEvaluations'>): void {
  const { queueMax } = limits.evaluation;
  if (context.openEvaluations() < queueMax) return;
  throw refusal('queue-full', { queue: 'evaluation', limit: queueMax });
}

/**
 * Writes the evaluation of a registration, within its transaction. `existing` is the job as it was
 * before. An error undoes the registration.
 */
export type Evaluate = (
  transaction: Transaction,
  stored: Job,
  existing: Job | undefined,
) => Evaluation | undefined;

/** Ordinarily the scheduler looks at the job later, when its evaluation is next. */
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

/** A complete and valid job, with its warnings. */
export interface Admitted {
  readonly job: Job;
  readonly warnings: readonly string[];
}

type Submitted = Pick<Registration, 'job' | 'namespace' | 'faults' | 'unknownFields'>;

/**
 * Completes and checks the job, in steps; reports all faults at once.
 * @throws RosterError `invalid-job`, `invalid-body` if only the rest of the request is wrong
 */
export function* admitSteps(
  { job: submitted, namespace, faults = [], unknownFields }: Submitted,
  { region, state }: Pick<ActContext, 'region' | 'state'>,
): Steps<Admitted> {
  const ID = submitted.ID ?? '';
  const key = inNamespace(namespace, ID);
  // No stored id has a NUL, which separates the parts of a key.
  const known = ID.includes('\0') ? undefined : state.peek((now) => now.table(jobs).get(...key));
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

/** A cluster is one region: a job of another region would wait for ever. */
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
 * Stores the job as a new version; an unchanged job is left alone.
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

/** Stores the current row and its version, and removes old versions. */
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
 * Keeps `versionsKept` untagged versions, the highest stable version among them, and every version
 * that an allocation still runs. Source: docs/behaviour/jobs.md#versions-that-are-kept.
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

/** Copies the source of an earlier version to the new version made of it. */
export function carrySubmission(transaction: Transaction, job: Job, fromVersion: number): void {
  const key = inNamespace(job.Namespace, job.ID, numberPart(fromVersion));
  const source = transaction.table(jobSubmissions).get(...key);
  if (source !== undefined) keepSubmission(transaction, job, source);
}

/**
 * Stores the source of a version, unless the version has one.
 * Source: docs/behaviour/jobs.md#sources.
 */
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
