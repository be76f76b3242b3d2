import type { AnswerOf, GivenBodyOf } from '../contract/endpoint.ts';
import type { jobEndpoints, JobRegistration as Registration } from '../contract/job.ts';
import type { jobFileEndpoints } from '../contract/job-file.ts';
import type { jobLaunchEndpoints } from '../contract/job-launch.ts';
import type { jobPlanEndpoints, JobPlanRequest as PlanRequest } from '../contract/job-plan.ts';
import type { jobScaleEndpoints, JobScaling as Scaling } from '../contract/job-scale.ts';
import type { jobStatusesEndpoints } from '../contract/job-statuses.ts';
import type { jobVersionEndpoints, jobVersionsEndpoints } from '../contract/job-version.ts';
import type { serviceEndpoints } from '../contract/service.ts';
import type { JobInput } from '../model/job/job.ts';
import { callsOf } from './calls.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** Body of a registration. */
export type JobRegistration = Registration & { readonly Job: JobInput };

/** Body of a plan. */
export type JobPlanRequest = PlanRequest & { readonly Job: JobInput };

/** Body of a scaling. One of `Message` and `Error` is needed. Without `Count` nothing is scaled. */
export type JobScaling = Scaling & { readonly Target: { readonly Group: string } };

/** Body of a dispatch. The payload is base64. */
export type JobDispatch = GivenBodyOf<(typeof jobLaunchEndpoints)['dispatch']>;

export type JobVersions = AnswerOf<(typeof jobVersionsEndpoints)['versions']>;
/** `EvalID` is `''` for periodic and parameterized jobs. */
export type JobRegistered = AnswerOf<(typeof jobEndpoints)['register']>;
export type JobStopped = AnswerOf<(typeof jobEndpoints)['stop']>;
export type JobValidated = AnswerOf<(typeof jobFileEndpoints)['validate']>;
/** The first two are absent where nothing had to be scheduled. */
export type JobScaled = AnswerOf<(typeof jobScaleEndpoints)['scale']>;
/** `EvalID` is `''` where nothing new was made, or what was made is itself periodic. */
export type JobDispatched = AnswerOf<(typeof jobLaunchEndpoints)['dispatch']>;
export type JobForced = AnswerOf<(typeof jobLaunchEndpoints)['forcePeriodic']>;
export type VersionTagged = AnswerOf<(typeof jobVersionEndpoints)['tag']>;

/** A job file in HCL; the values of its variables as "name = value" or JSON. */
export type JobParsing = GivenBodyOf<(typeof jobFileEndpoints)['parse']> & {
  readonly JobHCL: string;
};

export interface VersionsOptions extends ReadOptions {
  readonly diffs?: boolean | undefined;
  readonly diffVersion?: number | undefined;
  readonly diffTag?: string | undefined;
}

export interface StopOptions extends CallOptions {
  /** Forget the job at once instead of leaving that to garbage collection. */
  readonly purge?: boolean | undefined;
  readonly evalPriority?: number | undefined;
  readonly noShutdownDelay?: boolean | undefined;
  /** In all regions; ignored for a job of one region. */
  readonly global?: boolean | undefined;
}

export interface DispatchOptions extends CallOptions {
  /** Of all dispatches with the same one, the first makes a child. */
  readonly idempotencyToken?: string | undefined;
}

export interface RevertOptions extends CallOptions {
  /** Only if the job is still at this version. */
  readonly priorVersion?: number | undefined;
  /** Pass soft-mandatory job policies by; takes `namespace:policy-override`. */
  readonly policyOverride?: boolean | undefined;
  readonly registryToken?: string | undefined;
  readonly secretsToken?: string | undefined;
}

type Contract =
  | typeof jobEndpoints
  | typeof jobFileEndpoints
  | typeof jobLaunchEndpoints
  | typeof jobPlanEndpoints
  | typeof jobScaleEndpoints
  | typeof jobStatusesEndpoints
  | typeof jobVersionEndpoints
  | typeof jobVersionsEndpoints
  | typeof serviceEndpoints;

/** Whether to include what belongs to an earlier registration of the id as well. */
type OfAll = ReadOptions & { readonly all?: boolean };

export type Jobs = ReturnType<typeof jobsOf>;

export function jobsOf(requester: Requester) {
  const { read, write } = callsOf<Contract>(requester);
  return {
    ...listsOf(requester),
    ...versionsOf(requester),
    list: (options: ListOptions & { readonly meta?: boolean } = {}) =>
      read('GET /v1/jobs', {}, options, { ...listQuery(options), meta: options.meta || undefined }),
    register: (registration: JobRegistration, options?: CallOptions) =>
      write('POST /v1/jobs', {}, options, registration),
    /** As `register`, and refuses a job of another id. */
    update: (id: string, registration: JobRegistration, options?: CallOptions) =>
      write('POST /v1/job/:job_id+', { job_id: id }, options, registration),
    /** The job of a file in HCL; what it does not say is null. */
    parse: (parsing: JobParsing, options?: CallOptions) =>
      write('POST /v1/jobs/parse', {}, options, parsing),
    /** Whether it is valid; registers nothing. */
    validate: (Job: JobInput, options?: CallOptions) =>
      write('POST /v1/validate/job', {}, options, { Job }),
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/job/:job_id+', { job_id: id }, options),
    /** What registering the job would do; writes nothing. */
    plan: (id: string, request: JobPlanRequest, options?: CallOptions) =>
      write('POST /v1/job/:job_id+/plan', { job_id: id }, options, request),
    versions: (id: string, options: VersionsOptions = {}) =>
      read('GET /v1/job/:job_id+/versions', { job_id: id }, options, {
        diffs: options.diffs || undefined,
        diff_version: options.diffVersion,
        diff_tag: options.diffTag || undefined,
      }),
    stop: (id: string, options: StopOptions = {}) =>
      write('DELETE /v1/job/:job_id+', { job_id: id }, options, undefined, {
        purge: options.purge || undefined,
        eval_priority: options.evalPriority || undefined,
        no_shutdown_delay: options.noShutdownDelay || undefined,
        global: options.global || undefined,
      }),
    /** Makes a child of a parameterized job. */
    dispatch: (id: string, dispatch: JobDispatch = {}, options: DispatchOptions = {}) =>
      write('POST /v1/job/:job_id+/dispatch', { job_id: id }, options, dispatch, {
        IdempotencyToken: options.idempotencyToken || undefined,
      }),
    /** Launches a periodic job now. */
    forcePeriodic: (id: string, options?: CallOptions) =>
      write('POST /v1/job/:job_id+/periodic/force', { job_id: id }, options),
    scale: (id: string, scaling: JobScaling, options?: CallOptions) =>
      write('POST /v1/job/:job_id+/scale', { job_id: id }, options, scaling),
    scaleStatus: (id: string, options?: ReadOptions) =>
      read('GET /v1/job/:job_id+/scale', { job_id: id }, options),
    /** The instances of its services. */
    services: (id: string, options: ListOptions = {}) =>
      read('GET /v1/job/:job_id+/services', { job_id: id }, options, listQuery(options)),
    /** What may be run inside its tasks. */
    actions: (id: string, options: ListOptions = {}) =>
      read('GET /v1/job/:job_id+/actions', { job_id: id }, options, listQuery(options)),
    /** Lets the scheduler look at the job. `forceReschedule`: what failed is placed again now. */
    evaluate: (id: string, options: CallOptions & { readonly forceReschedule?: boolean } = {}) =>
      write('POST /v1/job/:job_id+/evaluate', { job_id: id }, options, {
        JobID: id,
        EvalOptions: { ForceReschedule: options.forceReschedule ?? false },
      }),
    /** The jobs with their allocations, the one that changed last first. */
    statuses: (options: ListOptions & { readonly includeChildren?: boolean } = {}) =>
      read('GET /v1/jobs/statuses', {}, options, {
        ...listQuery(options),
        include_children: options.includeChildren || undefined,
      }),
  };
}

/** What belongs to one job. */
function listsOf(requester: Requester) {
  const { read } = callsOf<Contract>(requester);
  return {
    allocations: (id: string, options: OfAll & { readonly resources?: boolean } = {}) =>
      read('GET /v1/job/:job_id+/allocations', { job_id: id }, options, {
        all: options.all || undefined,
        resources: options.resources || undefined,
      }),
    evaluations: (id: string, options: OfAll = {}) =>
      read('GET /v1/job/:job_id+/evaluations', { job_id: id }, options, {
        all: options.all || undefined,
      }),
    deployments: (id: string, options: OfAll = {}) =>
      read('GET /v1/job/:job_id+/deployments', { job_id: id }, options, {
        all: options.all || undefined,
      }),
    /** The latest one. */
    deployment: (id: string, options?: ReadOptions) =>
      read('GET /v1/job/:job_id+/deployment', { job_id: id }, options),
    summary: (id: string, options?: ReadOptions) =>
      read('GET /v1/job/:job_id+/summary', { job_id: id }, options),
  };
}

/** What is done with earlier versions. */
function versionsOf(requester: Requester) {
  const { read, write } = callsOf<Contract>(requester);
  return {
    /** The text that a version was made from. */
    submission: (id: string, version: number, options?: CallOptions) =>
      read('GET /v1/job/:job_id+/submission', { job_id: id }, options, { version }),
    /** Registers an earlier version as a new one. */
    revert: (id: string, version: number, options: RevertOptions = {}) =>
      write('POST /v1/job/:job_id+/revert', { job_id: id }, options, {
        JobID: id,
        JobVersion: version,
        EnforcePriorVersion: options.priorVersion,
        PolicyOverride: options.policyOverride || undefined,
        RegistryToken: options.registryToken,
        SecretsToken: options.secretsToken,
      }),
    /** Says whether a version is one to go back to. */
    setStability: (id: string, version: number, stable: boolean, options?: CallOptions) =>
      write('POST /v1/job/:job_id+/stable', { job_id: id }, options, {
        ...{ JobID: id, JobVersion: version, Stable: stable },
      }),
    /** Keeps a version (the current one by default) under a name. */
    tag: (
      id: string,
      name: string,
      options: CallOptions & { readonly version?: number; readonly description?: string } = {},
    ) =>
      write('PUT /v1/job/:job_id+/tag/:name', { job_id: id, name }, options, {
        Version: options.version,
        Description: options.description,
      }),
    untag: (id: string, name: string, options?: CallOptions) =>
      write('DELETE /v1/job/:job_id+/tag/:name', { job_id: id, name }, options),
  };
}
