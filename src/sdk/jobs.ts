import type { AnswerOf, GivenBodyOf } from '../contract/endpoint.ts';
import type { jobEndpoints, WrittenRegistration as Registration } from '../contract/job.ts';
import type { jobFileEndpoints } from '../contract/job-file.ts';
import type { jobLaunchEndpoints } from '../contract/job-launch.ts';
import type { jobPlanEndpoints, WrittenPlanRequest as PlanRequest } from '../contract/job-plan.ts';
import type { jobScaleEndpoints, JobScaling as Scaling } from '../contract/job-scale.ts';
import type { jobStatusesEndpoints } from '../contract/job-statuses.ts';
import type { jobVersionEndpoints, jobVersionsEndpoints } from '../contract/job-version.ts';
import type { serviceEndpoints } from '../contract/service.ts';
import type { WrittenJob } from '../model/job/job.ts';
import { callsOf } from './calls.ts';
import { waitUntilDeployed, waitUntilRunning } from './job-wait.ts';
import {
  type CallOptions,
  type ListOptions,
  listQuery,
  type ReadOptions,
  type Requester,
} from './requester.ts';
import type { WaitOptions } from './wait.ts';

/** Body of a registration. */
export type JobRegistration = Registration & { readonly Job: WrittenJob };

/** Body of a plan. */
export type JobPlanRequest = PlanRequest & { readonly Job: WrittenJob };

/**
 * Body of a scaling. Either `Message` or `Error` is required. Without `Count` the group is not
 * scaled.
 */
export type JobScaling = Scaling & { readonly Target: { readonly Group: string } };

/** Body of a dispatch. The payload is base64. */
export type JobDispatch = GivenBodyOf<(typeof jobLaunchEndpoints)['dispatch']>;

export type JobVersions = AnswerOf<(typeof jobVersionsEndpoints)['versions']>;
/** `EvalID` is `''` for periodic and parameterized jobs. */
export type JobRegistered = AnswerOf<(typeof jobEndpoints)['register']>;
export type JobStopped = AnswerOf<(typeof jobEndpoints)['stop']>;
export type JobValidated = AnswerOf<(typeof jobFileEndpoints)['validate']>;
/** The first two fields are absent when no evaluation is made. */
export type JobScaled = AnswerOf<(typeof jobScaleEndpoints)['scale']>;
/** `EvalID` is `''` if the dispatch repeats an earlier one, or the child is periodic. */
export type JobDispatched = AnswerOf<(typeof jobLaunchEndpoints)['dispatch']>;
export type JobForced = AnswerOf<(typeof jobLaunchEndpoints)['forcePeriodic']>;
export type VersionTagged = AnswerOf<(typeof jobVersionEndpoints)['tag']>;

/** A job file in HCL. `Variables` are lines of "name = value", or JSON. */
export type JobParsing = GivenBodyOf<(typeof jobFileEndpoints)['parse']> & {
  readonly JobHCL: string;
};

export interface VersionsOptions extends ReadOptions {
  readonly diffs?: boolean | undefined;
  readonly diffVersion?: number | undefined;
  readonly diffTag?: string | undefined;
}

export interface StopOptions extends CallOptions {
  /** Delete the job at once instead of leaving it to garbage collection. */
  readonly purge?: boolean | undefined;
  readonly evalPriority?: number | undefined;
  readonly noShutdownDelay?: boolean | undefined;
  /** Ignored for a job of a single region. */
  readonly global?: boolean | undefined;
}

export interface DispatchOptions extends CallOptions {
  /** Only the first dispatch with this token creates a child. */
  readonly idempotencyToken?: string | undefined;
}

export interface RevertOptions extends CallOptions {
  /** Only if this is the job's current version. */
  readonly priorVersion?: number | undefined;
  /** Override soft-mandatory job policies. Needs `namespace:policy-override`. */
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

/** `all`: include those of earlier registrations with the same id. */
type OfAll = ReadOptions & { readonly all?: boolean; readonly filter?: string | undefined };

export type Jobs = ReturnType<typeof jobsOf>;

export function jobsOf(requester: Requester) {
  const { read, write } = callsOf<Contract>(requester);
  return {
    ...waitsOf(requester),
    ...listsOf(requester),
    ...versionsOf(requester),
    list: (options: ListOptions & { readonly meta?: boolean } = {}) =>
      read('GET /v1/jobs', {}, options, { ...listQuery(options), meta: options.meta || undefined }),
    register: (registration: JobRegistration, options?: CallOptions) =>
      write('POST /v1/jobs', {}, options, { body: registration }),
    /** Like `register`, but refuses a job with another id. */
    update: (id: string, registration: JobRegistration, options?: CallOptions) =>
      write('POST /v1/job/:job_id+', { job_id: id }, options, { body: registration }),
    /** The job in a job file. Unset fields are null. */
    parse: (parsing: JobParsing, options?: CallOptions) =>
      write('POST /v1/jobs/parse', {}, options, { body: parsing }),
    /** Checks a job without registering it. */
    validate: (Job: WrittenJob, options?: CallOptions) =>
      write('POST /v1/validate/job', {}, options, { body: { Job } }),
    read: (id: string, options?: ReadOptions) =>
      read('GET /v1/job/:job_id+', { job_id: id }, options),
    /** The effects of a registration, without registering. */
    plan: (id: string, request: JobPlanRequest, options?: CallOptions) =>
      write('POST /v1/job/:job_id+/plan', { job_id: id }, options, { body: request }),
    stop: (id: string, options: StopOptions = {}) =>
      write('DELETE /v1/job/:job_id+', { job_id: id }, options, {
        query: {
          purge: options.purge || undefined,
          eval_priority: options.evalPriority || undefined,
          no_shutdown_delay: options.noShutdownDelay || undefined,
          global: options.global || undefined,
        },
      }),
    /** Creates a child of a parameterized job. */
    dispatch: (id: string, dispatch: JobDispatch = {}, options: DispatchOptions = {}) =>
      write('POST /v1/job/:job_id+/dispatch', { job_id: id }, options, {
        body: dispatch,
        query: { IdempotencyToken: options.idempotencyToken || undefined },
      }),
    /** Launches a periodic job now. */
    forcePeriodic: (id: string, options?: CallOptions) =>
      write('POST /v1/job/:job_id+/periodic/force', { job_id: id }, options),
    scale: (id: string, scaling: JobScaling, options?: CallOptions) =>
      write('POST /v1/job/:job_id+/scale', { job_id: id }, options, { body: scaling }),
    scaleStatus: (id: string, options?: ReadOptions) =>
      read('GET /v1/job/:job_id+/scale', { job_id: id }, options),
    services: (id: string, options: ListOptions = {}) =>
      read('GET /v1/job/:job_id+/services', { job_id: id }, options, listQuery(options)),
    /** The actions of the job's tasks. */
    actions: (id: string, options: ListOptions = {}) =>
      read('GET /v1/job/:job_id+/actions', { job_id: id }, options, listQuery(options)),
    /** Creates an evaluation. `forceReschedule`: failed allocations are replaced at once. */
    evaluate: (id: string, options: CallOptions & { readonly forceReschedule?: boolean } = {}) =>
      write('POST /v1/job/:job_id+/evaluate', { job_id: id }, options, {
        body: {
          JobID: id,
          EvalOptions: { ForceReschedule: options.forceReschedule ?? false },
        },
      }),
  };
}

const waitsOf = (requester: Requester) => ({
  /**
   * Resolves with the running allocations of the newest version once every group has its count, or, for a
   * system job, once every allocation runs. Rejects with `WaitError` if the job has ended or takes too long;
   * its `unplaced` tells why allocations are not placed.
   */
  waitUntilRunning: (id: string, options?: WaitOptions) => waitUntilRunning(requester, id, options),
  /**
   * Resolves with the deployment of the newest version, or of the given one, when it is successful. Rejects with
   * `WaitError` if it fails, is cancelled, or takes too long.
   */
  waitUntilDeployed: (id: string, options?: WaitOptions & { readonly version?: number }) =>
    waitUntilDeployed(requester, id, options),
});

function listsOf(requester: Requester) {
  const { read } = callsOf<Contract>(requester);
  return {
    allocations: (id: string, options: OfAll & { readonly resources?: boolean } = {}) =>
      read('GET /v1/job/:job_id+/allocations', { job_id: id }, options, {
        all: options.all || undefined,
        filter: options.filter || undefined,
        resources: options.resources || undefined,
      }),
    evaluations: (id: string, options: OfAll = {}) =>
      read('GET /v1/job/:job_id+/evaluations', { job_id: id }, options, {
        all: options.all || undefined,
        filter: options.filter || undefined,
      }),
    deployments: (id: string, options: OfAll = {}) =>
      read('GET /v1/job/:job_id+/deployments', { job_id: id }, options, {
        all: options.all || undefined,
        filter: options.filter || undefined,
      }),
    /** The latest deployment. */
    deployment: (id: string, options?: ReadOptions) =>
      read('GET /v1/job/:job_id+/deployment', { job_id: id }, options),
    /** The jobs with their allocations, the most recently changed first; or a single job. */
    statuses: (
      options: ListOptions & {
        readonly includeChildren?: boolean;
        readonly job?: string | undefined;
      } = {},
    ) =>
      read('GET /v1/jobs/statuses', {}, options, {
        ...listQuery(options),
        include_children: options.includeChildren || undefined,
        job: options.job || undefined,
      }),
    summary: (id: string, options?: ReadOptions) =>
      read('GET /v1/job/:job_id+/summary', { job_id: id }, options),
  };
}

/** Actions on versions of a job. */
function versionsOf(requester: Requester) {
  const { read, write } = callsOf<Contract>(requester);
  return {
    versions: (id: string, options: VersionsOptions = {}) =>
      read('GET /v1/job/:job_id+/versions', { job_id: id }, options, {
        diffs: options.diffs || undefined,
        diff_version: options.diffVersion,
        diff_tag: options.diffTag || undefined,
      }),
    /** The source text of a version. */
    submission: (id: string, version: number, options?: CallOptions) =>
      read('GET /v1/job/:job_id+/submission', { job_id: id }, options, { version }),
    /** Registers an earlier version as a new one. */
    revert: (id: string, version: number, options: RevertOptions = {}) =>
      write('POST /v1/job/:job_id+/revert', { job_id: id }, options, {
        body: {
          JobID: id,
          JobVersion: version,
          EnforcePriorVersion: options.priorVersion,
          PolicyOverride: options.policyOverride || undefined,
          RegistryToken: options.registryToken,
          SecretsToken: options.secretsToken,
        },
      }),
    /** Marks a version as stable or not. Automatic rollbacks go to the last stable version. */
    setStability: (id: string, version: number, stable: boolean, options?: CallOptions) =>
      write('POST /v1/job/:job_id+/stable', { job_id: id }, options, {
        body: {
          JobID: id,
          JobVersion: version,
          Stable: stable,
        },
      }),
    /** Tags a version; by default the current one. Tagged versions are kept. */
    tag: (
      id: string,
      name: string,
      options: CallOptions & { readonly version?: number; readonly description?: string } = {},
    ) =>
      write('PUT /v1/job/:job_id+/tag/:name', { job_id: id, name }, options, {
        body: {
          Version: options.version,
          Description: options.description,
        },
      }),
    untag: (id: string, name: string, options?: CallOptions) =>
      write('DELETE /v1/job/:job_id+/tag/:name', { job_id: id, name }, options),
  };
}
