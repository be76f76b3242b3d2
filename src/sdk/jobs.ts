import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import type { Deployment } from '../model/deployment/deployment.ts';
import type { Evaluation } from '../model/evaluation/evaluation.ts';
import type { Job, JobInput } from '../model/job/job.ts';
import type { JobAction } from '../model/job/job-action.ts';
import type { JobStub } from '../model/job/job-stub.ts';
import type { JobSubmission } from '../model/job-submission/job-submission.ts';
import type { JobSummary } from '../model/job-summary/job-summary.ts';
import type { ScaleStatus } from '../model/scaling-event/scaling-event.ts';
import {
  type Answer,
  type CallOptions,
  type ListOptions,
  listQuery,
  path,
  type ReadOptions,
  type Requester,
} from './requester.ts';

/** Body of a registration. Source: spec/3-jobs.md §4.2. */
export interface JobRegistration {
  readonly Job: JobInput;
  readonly Submission?: Partial<JobSubmission> | undefined;
  readonly EnforceIndex?: boolean | undefined;
  readonly JobModifyIndex?: number | undefined;
  readonly EvalPriority?: number | undefined;
  readonly PolicyOverride?: boolean | undefined;
  readonly PreserveCounts?: boolean | undefined;
}

/** Source: facts/scheduler.md §3.11. `EvalID` is `''` for periodic and parameterized jobs. */
export interface JobRegistered {
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly JobModifyIndex: number;
  readonly Warnings: string;
  readonly Index: number;
}

/** Source: spec/3-jobs.md §4.3. */
export interface JobParsing {
  readonly JobHCL: string;
  /** With defaults instead of null. */
  readonly Canonicalize?: boolean | undefined;
  /** Values of variables, as "name = value" or JSON. */
  readonly Variables?: string | undefined;
}

/** Source: facts/scheduler.md §4.11. */
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
}

/** Body of a scaling. Source: spec/3-jobs.md §4.8. One of `Message` and `Error` is needed. */
export interface JobScaling {
  /** Absent: nothing is scaled, and what is said is kept among the events of the group. */
  readonly Count?: number | undefined;
  readonly Target: { readonly Group: string };
  readonly Message?: string | undefined;
  readonly Error?: string | boolean | undefined;
  readonly Meta?: Readonly<Record<string, unknown>> | undefined;
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
  stop(id: string, options?: StopOptions): Promise<Answer<JobStopped>>;
  /** `all`: those of earlier registrations of the id as well. */
  allocations(
    id: string,
    options?: ReadOptions & { readonly all?: boolean; readonly resources?: boolean },
  ): Promise<Answer<readonly AllocationStub[]>>;
  evaluations(id: string, options?: ReadOptions): Promise<Answer<readonly Evaluation[]>>;
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
  actions(id: string, options?: ListOptions): Promise<Answer<readonly JobAction[]>>;
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
  stop: (id, options = {}) =>
    requester.write('DELETE', path`/v1/job/${id}`, options, undefined, {
      purge: options.purge || undefined,
      eval_priority: options.evalPriority || undefined,
      no_shutdown_delay: options.noShutdownDelay || undefined,
    }),
  allocations: (id, options = {}) =>
    requester.read(path`/v1/job/${id}/allocations`, options, {
      all: options.all || undefined,
      resources: options.resources || undefined,
    }),
  evaluations: (id, options) => requester.read(path`/v1/job/${id}/evaluations`, options),
  deployments: (id, options = {}) =>
    requester.read(path`/v1/job/${id}/deployments`, options, { all: options.all || undefined }),
  deployment: (id, options) => requester.read(path`/v1/job/${id}/deployment`, options),
  summary: (id, options) => requester.read(path`/v1/job/${id}/summary`, options),
  scale: (id, scaling, options) =>
    requester.write('POST', path`/v1/job/${id}/scale`, options, scaling),
  scaleStatus: (id, options) => requester.read(path`/v1/job/${id}/scale`, options),
  actions: (id, options = {}) =>
    requester.read(path`/v1/job/${id}/actions`, options, listQuery(options)),
});
