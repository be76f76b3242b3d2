import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import type { Deployment } from '../model/deployment/deployment.ts';
import type { PresentedEvaluation } from '../model/evaluation/present.ts';
import type { Job, JobInput } from '../model/job/job.ts';
import type { JobAction } from '../model/job/job-action.ts';
import type { JobStatuses } from '../model/job/job-statuses.ts';
import type { JobStub } from '../model/job/job-stub.ts';
import type { JobDiff } from '../model/job-diff/job-diff.ts';
import type { JobPlan } from '../model/job-plan/job-plan.ts';
import type { JobSubmission } from '../model/job-submission/job-submission.ts';
import type { JobSummary } from '../model/job-summary/job-summary.ts';
import type { ScaleStatus } from '../model/scaling-event/scaling-event.ts';
import type { ServiceRegistration } from '../model/service-registration/service-registration.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** Body of a registration. Source: docs/contract/jobs.md#register-a-job. */
export interface JobRegistration {
  readonly Job: JobInput;
  readonly Submission?: Partial<JobSubmission> | undefined;
  readonly EnforceIndex?: boolean | undefined;
  readonly JobModifyIndex?: number | undefined;
  readonly EvalPriority?: number | undefined;
  readonly PolicyOverride?: boolean | undefined;
  readonly PreserveCounts?: boolean | undefined;
  /** Tasks that are registered keep their resources, whatever `Job` says of them. */
  readonly PreserveResources?: boolean | undefined;
  /** Do just what this plan said, or refuse (409 `plan-outdated`, with all differences). */
  readonly PlanID?: string | undefined;
}

/** Body of a plan. Source: docs/contract/jobs.md#plan-a-job. */
export interface JobPlanRequest
  extends Pick<JobRegistration, 'Job' | 'PolicyOverride' | 'PreserveCounts' | 'PreserveResources'> {
  /** Whether to tell what is different from the stored job. */
  readonly Diff?: boolean | undefined;
}

/** Source: docs/contract/jobs.md#versions-and-sources. */
export interface JobVersions {
  /** The newest first. */
  readonly Versions: readonly Job[];
  /** Each version with its predecessor, or with the one that was named; null when not asked for. */
  readonly Diffs: readonly JobDiff[] | null;
  readonly Index: number;
}

export interface VersionsOptions extends ReadOptions {
  readonly diffs?: boolean | undefined;
  readonly diffVersion?: number | undefined;
  readonly diffTag?: string | undefined;
}

/**
 * Source: docs/behaviour/jobs.md#answers-of-writes. `EvalID` is `''` for periodic and parameterized
 * jobs.
 */
export interface JobRegistered {
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly JobModifyIndex: number;
  readonly Warnings: string;
  readonly Index: number;
}

/** Source: docs/contract/jobs.md#parse-a-job-file. */
export interface JobParsing {
  readonly JobHCL: string;
  /** With defaults instead of null. */
  readonly Canonicalize?: boolean | undefined;
  /** Values of variables, as "name = value" or JSON. */
  readonly Variables?: string | undefined;
}

/** Source: docs/behaviour/jobs.md#parse-and-validate. */
export interface JobValidated {
  readonly DriverConfigValidated: boolean;
  readonly ValidationErrors: readonly string[];
  readonly Error: string;
  readonly Warnings: string;
}

export interface JobStopped {
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly JobModifyIndex: number;
  readonly Index: number;
}

export interface StopOptions extends CallOptions {
  /** Forget the job at once instead of leaving that to garbage collection. */
  readonly purge?: boolean | undefined;
  readonly evalPriority?: number | undefined;
  readonly noShutdownDelay?: boolean | undefined;
  /** In all regions; ignored for a job of one region. */
  readonly global?: boolean | undefined;
}

/**
 * Body of a scaling. Source: docs/contract/jobs.md#scale-a-group. One of `Message` and `Error` is
 * needed.
 */
export interface JobScaling {
  /** Absent: nothing is scaled, and what is said is kept among the events of the group. */
  readonly Count?: number | undefined;
  readonly Target: { readonly Group: string };
  readonly Message?: string | undefined;
  readonly Error?: string | boolean | undefined;
  /** Any JSON. */
  readonly Meta?: unknown;
  readonly EnforceIndex?: boolean | undefined;
  readonly JobModifyIndex?: number | undefined;
  readonly PolicyOverride?: boolean | undefined;
}

/** The first two are absent where nothing had to be scheduled. */
export interface JobScaled {
  readonly EvalID?: string;
  readonly EvalCreateIndex?: number;
  readonly JobModifyIndex: number;
  readonly Warnings: string;
  readonly Index: number;
}

/** Body of a dispatch. Source: docs/contract/jobs.md#dispatch-a-job. */
export interface JobDispatch {
  /** Base64. */
  readonly Payload?: string | undefined;
  readonly Meta?: Readonly<Record<string, string>> | undefined;
  readonly IdPrefixTemplate?: string | undefined;
  readonly Priority?: number | undefined;
}

export interface DispatchOptions extends CallOptions {
  /** Of all dispatches with the same one, the first makes a child. */
  readonly idempotencyToken?: string | undefined;
}

/** `EvalID` is `''` where nothing new was made, or what was made is itself periodic. */
export interface JobDispatched {
  readonly DispatchedJobID: string;
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly JobCreateIndex: number;
  readonly Index: number;
  readonly Warnings?: string;
}

export interface JobForced {
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly Index: number;
}

export interface RevertOptions extends CallOptions {
  /** Only if the job is still at this version. */
  readonly priorVersion?: number | undefined;
  /** Pass soft-mandatory job policies by; takes `namespace:policy-override`. */
  readonly policyOverride?: boolean | undefined;
  readonly registryToken?: string | undefined;
  readonly secretsToken?: string | undefined;
}

/** Source: docs/behaviour/jobs.md#tags. */
export interface VersionTagged {
  readonly Name: string;
  readonly Description: string;
  readonly TaggedTime: number;
  readonly Version: number;
  readonly Index: number;
}

export interface Jobs {
  list(options?: ListOptions & { readonly meta?: boolean }): Promise<Answer<readonly JobStub[]>>;
  register(registration: JobRegistration, options?: CallOptions): Promise<Answer<JobRegistered>>;
  /** As `register`, and refuses a job of another id. */
  update(
    id: string,
    registration: JobRegistration,
    options?: CallOptions,
  ): Promise<Answer<JobRegistered>>;
  /** The job of a file in HCL; what it does not say is null. */
  parse(parsing: JobParsing, options?: CallOptions): Promise<Answer<JobInput>>;
  /** Whether it is valid; registers nothing. */
  validate(job: JobInput, options?: CallOptions): Promise<Answer<JobValidated>>;
  read(id: string, options?: ReadOptions): Promise<Answer<Job>>;
  /** What registering the job would do; writes nothing. */
  plan(id: string, request: JobPlanRequest, options?: CallOptions): Promise<Answer<JobPlan>>;
  versions(id: string, options?: VersionsOptions): Promise<Answer<JobVersions>>;
  stop(id: string, options?: StopOptions): Promise<Answer<JobStopped>>;
  /** Makes a child of a parameterized job. */
  dispatch(
    id: string,
    dispatch?: JobDispatch,
    options?: DispatchOptions,
  ): Promise<Answer<JobDispatched>>;
  /** Launches a periodic job now. */
  forcePeriodic(id: string, options?: CallOptions): Promise<Answer<JobForced>>;
  /** `all`: those of earlier registrations of the id as well. */
  allocations(
    id: string,
    options?: ReadOptions & { readonly all?: boolean; readonly resources?: boolean },
  ): Promise<Answer<readonly AllocationStub[]>>;
  evaluations(
    id: string,
    options?: ReadOptions & { readonly all?: boolean },
  ): Promise<Answer<readonly PresentedEvaluation[]>>;
  /** `all`: those of earlier registrations of the id as well. */
  deployments(
    id: string,
    options?: ReadOptions & { readonly all?: boolean },
  ): Promise<Answer<readonly Deployment[]>>;
  /** The latest one. */
  deployment(id: string, options?: ReadOptions): Promise<Answer<Deployment | null>>;
  summary(id: string, options?: ReadOptions): Promise<Answer<JobSummary>>;
  scale(id: string, scaling: JobScaling, options?: CallOptions): Promise<Answer<JobScaled>>;
  scaleStatus(id: string, options?: ReadOptions): Promise<Answer<ScaleStatus>>;
  /** What may be run inside its tasks. */
  /** The instances of its services. */
  services(id: string, options?: ListOptions): Promise<Answer<readonly ServiceRegistration[]>>;
  actions(id: string, options?: ListOptions): Promise<Answer<readonly JobAction[]>>;
  /** The text that a version was made from. */
  submission(id: string, version: number, options?: CallOptions): Promise<Answer<JobSubmission>>;
  /** Registers an earlier version as a new one. */
  revert(id: string, version: number, options?: RevertOptions): Promise<Answer<JobRegistered>>;
  /** Says whether a version is one to go back to. */
  setStability(
    id: string,
    version: number,
    stable: boolean,
    options?: CallOptions,
  ): Promise<Answer<{ readonly JobModifyIndex: number; readonly Index: number }>>;
  /** Keeps a version (the current one by default) under a name. */
  tag(
    id: string,
    name: string,
    options?: CallOptions & { readonly version?: number; readonly description?: string },
  ): Promise<Answer<VersionTagged>>;
  untag(id: string, name: string, options?: CallOptions): Promise<Answer<VersionTagged>>;
  /** Lets the scheduler look at the job. `forceReschedule`: what failed is placed again now. */
  evaluate(
    id: string,
    options?: CallOptions & { readonly forceReschedule?: boolean },
  ): Promise<Answer<Omit<JobRegistered, 'Warnings'>>>;
  /** The jobs with their allocations, the one that changed last first. */
  statuses(
    options?: ListOptions & { readonly includeChildren?: boolean },
  ): Promise<Answer<readonly JobStatuses[]>>;
}

export const jobsOf = (requester: Requester): Jobs => ({
  list: (options = {}) =>
    requester.read('/v1/jobs', options, { ...listQuery(options), meta: options.meta || undefined }),
  register: (registration, options) => requester.write('POST', '/v1/jobs', options, registration),
  update: (id, registration, options) =>
    requester.write('POST', path`/v1/job/${id}`, options, registration),
  parse: (parsing, options) => requester.write('POST', '/v1/jobs/parse', options, parsing),
  validate: (Job, options) => requester.write('POST', '/v1/validate/job', options, { Job }),
  read: (id, options) => requester.read(path`/v1/job/${id}`, options),
  plan: (id, request, options) =>
    requester.write('POST', path`/v1/job/${id}/plan`, options, request),
  versions: (id, options = {}) =>
    requester.read(path`/v1/job/${id}/versions`, options, {
      diffs: options.diffs || undefined,
      diff_version: options.diffVersion,
      diff_tag: options.diffTag || undefined,
    }),
  stop: (id, options = {}) =>
    requester.write('DELETE', path`/v1/job/${id}`, options, undefined, {
      purge: options.purge || undefined,
      eval_priority: options.evalPriority || undefined,
      no_shutdown_delay: options.noShutdownDelay || undefined,
      global: options.global || undefined,
    }),
  dispatch: (id, dispatch = {}, options = {}) =>
    requester.write('POST', path`/v1/job/${id}/dispatch`, options, dispatch, {
      IdempotencyToken: options.idempotencyToken || undefined,
    }),
  forcePeriodic: (id, options) =>
    requester.write('POST', path`/v1/job/${id}/periodic/force`, options),
  allocations: (id, options = {}) =>
    requester.read(path`/v1/job/${id}/allocations`, options, {
      all: options.all || undefined,
      resources: options.resources || undefined,
    }),
  evaluations: (id, options = {}) =>
    requester.read(path`/v1/job/${id}/evaluations`, options, { all: options.all || undefined }),
  deployments: (id, options = {}) =>
    requester.read(path`/v1/job/${id}/deployments`, options, { all: options.all || undefined }),
  deployment: (id, options) => requester.read(path`/v1/job/${id}/deployment`, options),
  summary: (id, options) => requester.read(path`/v1/job/${id}/summary`, options),
  scale: (id, scaling, options) =>
    requester.write('POST', path`/v1/job/${id}/scale`, options, scaling),
  scaleStatus: (id, options) => requester.read(path`/v1/job/${id}/scale`, options),
  services: (id, options = {}) =>
    requester.read(path`/v1/job/${id}/services`, options, listQuery(options)),
  actions: (id, options = {}) =>
    requester.read(path`/v1/job/${id}/actions`, options, listQuery(options)),
  submission: (id, version, options) =>
    requester.read(path`/v1/job/${id}/submission`, options, { version }),
  revert: (id, version, options = {}) =>
    requester.write('POST', path`/v1/job/${id}/revert`, options, {
      JobID: id,
      JobVersion: version,
      EnforcePriorVersion: options.priorVersion,
      PolicyOverride: options.policyOverride || undefined,
      RegistryToken: options.registryToken,
      SecretsToken: options.secretsToken,
    }),
  setStability: (id, version, stable, options) =>
    requester.write('POST', path`/v1/job/${id}/stable`, options, {
      ...{ JobID: id, JobVersion: version, Stable: stable },
    }),
  tag: (id, name, options = {}) =>
    requester.write('PUT', path`/v1/job/${id}/tag/${name}`, options, {
      Version: options.version,
      Description: options.description,
    }),
  untag: (id, name, options) => requester.write('DELETE', path`/v1/job/${id}/tag/${name}`, options),
  evaluate: (id, options = {}) =>
    requester.write('POST', path`/v1/job/${id}/evaluate`, options, {
      JobID: id,
      EvalOptions: { ForceReschedule: options.forceReschedule ?? false },
    }),
  statuses: (options = {}) =>
    requester.read('/v1/jobs/statuses', options, {
      ...listQuery(options),
      include_children: options.includeChildren || undefined,
    }),
});
