import { AllocationSchema } from '../model/allocation/allocation.ts';
import { type AllocationStub, AllocationStubSchema } from '../model/allocation/allocation-stub.ts';
import { type Deployment, DeploymentSchema } from '../model/deployment/deployment.ts';
import {
  type PresentedEvaluation,
  PresentedEvaluationSchema,
} from '../model/evaluation/present.ts';
import { type Job, type JobInput, JobSchema, type WrittenJob } from '../model/job/job.ts';
import { type JobStub, JobStubSchema } from '../model/job/job-stub.ts';
import { type JobSubmission, JobSubmissionSchema } from '../model/job-submission/job-submission.ts';
import { type JobSummary, JobSummarySchema } from '../model/job-summary/job-summary.ts';
import { limits } from '../model/limits.ts';
import { Flag, Nullable, Text, Type, Whole } from '../model/schema.ts';
import { stubQuery } from './allocation.ts';
import { endpoints, typed, written } from './endpoint.ts';
import { mayStop, readJob, submitBodyOr } from './job-rights.ts';
import { capability, listing } from './needs.ts';
import { flag, type QueryTable, text } from './query.ts';
import { sortsOf } from './sorts.ts';

const stopped = {
  EvalID: Text(),
  EvalCreateIndex: Whole(),
  JobModifyIndex: Whole(),
  Index: Whole(),
  LastContact: Whole(),
  KnownLeader: Flag(),
};

/**
 * The answer of writes that may create an evaluation (docs/behaviour/jobs.md#answers-of-writes).
 */
export const EvaluatedSchema = Type.Object({ ...stopped, Warnings: Text() });

export const everyRegistration = {
  all: flag('Include records of earlier registrations with the same id.'),
} as const satisfies QueryTable;

/** The fields beside `Job`. The server checks their values together with the rules of the job. */
const envelope = {
  EnforceIndex: Flag(),
  JobModifyIndex: Whole({ minimum: 0 }),
  EvalPriority: Whole({ minimum: 0, maximum: limits.job.priorityMax }),
  PolicyOverride: Flag(),
  PreserveCounts: Flag(),
  PreserveResources: Flag(),
  /** Do exactly what this plan showed, or nothing. */
  PlanID: Text(),
  Namespace: Text(),
  Region: Text(),
};
export const RegistrationEnvelopeSchema = Type.Object(envelope);

/** Body of a registration. */
export interface JobRegistration {
  readonly Job?: JobInput | null | undefined;
  readonly Submission?: Partial<JobSubmission> | null | undefined;
  readonly EnforceIndex?: boolean | undefined;
  readonly JobModifyIndex?: number | undefined;
  readonly EvalPriority?: number | undefined;
  readonly PolicyOverride?: boolean | undefined;
  readonly PreserveCounts?: boolean | undefined;
  /** Registered tasks keep their resources, whatever `Job` says. */
  readonly PreserveResources?: boolean | undefined;
  /** Do exactly what this plan showed, or refuse (409 `plan-outdated`, with all differences). */
  readonly PlanID?: string | undefined;
  readonly Region?: string | undefined;
}

/** The same as a caller writes it. */
export interface WrittenRegistration extends Omit<JobRegistration, 'Job'> {
  readonly Job?: WrittenJob | null | undefined;
}

/** A minimal job. */
export const exampleJob = {
  ID: 'web',
  Type: 'service',
  TaskGroups: [
    {
      Name: 'web',
      Count: 2,
      Tasks: [{ Name: 'server', Driver: 'raw_exec', Config: { command: 'sleep', args: ['60'] } }],
    },
  ],
};

const registrationBody = {
  example: { Job: exampleJob },
  schema: written<JobRegistration, WrittenRegistration>(
    Type.Object({
      Job: Nullable(JobSchema),
      Submission: Nullable(JobSubmissionSchema),
      ...envelope,
    }),
  ),
  unknown: 'report',
  bytesMax: limits.http.jobBodyBytesMax,
  checkValues: false,
} as const;

export const jobEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/jobs',
      summary: 'List jobs',
      blocking: true,
      query: {
        prefix: text('The beginning of the job id.'),
        meta: flag("Include each job's Meta."),
      },
      answer: typed<JobStub>(JobStubSchema),
      filter: JobSchema,
      sorts: sortsOf.jobs,
      permission: listing(capability('list-jobs')),
    },
    register: {
      kind: 'write',
      methods: ['POST', 'PUT'],
      path: '/v1/jobs',
      summary: 'Register a job',
      body: registrationBody,
      answer: EvaluatedSchema,
      permission: submitBodyOr('register-job'),
    },
    update: {
      kind: 'write',
      methods: ['POST', 'PUT'],
      path: '/v1/job/:job_id+',
      summary: 'Update a job',
      body: registrationBody,
      answer: EvaluatedSchema,
      permission: submitBodyOr('register-job'),
    },
    read: {
      kind: 'read',
      path: '/v1/job/:job_id+',
      summary: 'Read a job',
      blocking: true,
      answer: typed<Job>(JobSchema),
      permission: readJob,
    },
    stop: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/job/:job_id+',
      summary: 'Stop a job',
      query: {
        purge: flag('Delete the job at once.'),
        global: flag('In all regions; ignored for a job of one region.'),
        eval_priority: {
          kind: 'integer',
          default: 0,
          maximum: limits.job.priorityMax,
          description: "Priority of the evaluation; 0: the job's.",
        },
        no_shutdown_delay: flag('Do not wait for shutdown delays.'),
      },
      answer: Type.Object(stopped),
      permission: mayStop,
    },
    allocations: {
      kind: 'list',
      path: '/v1/job/:job_id+/allocations',
      summary: "List a job's allocations",
      blocking: true,
      query: { ...everyRegistration, ...stubQuery },
      answer: typed<AllocationStub>(AllocationStubSchema),
      filter: AllocationSchema,
      sorts: sortsOf.allocations,
      permission: readJob,
    },
    evaluations: {
      kind: 'list',
      path: '/v1/job/:job_id+/evaluations',
      summary: "List a job's evaluations",
      blocking: true,
      query: everyRegistration,
      answer: typed<PresentedEvaluation>(PresentedEvaluationSchema),
      filter: PresentedEvaluationSchema,
      sorts: sortsOf.evaluations,
      permission: readJob,
    },
    deployments: {
      kind: 'list',
      path: '/v1/job/:job_id+/deployments',
      summary: "List a job's deployments",
      blocking: true,
      query: everyRegistration,
      answer: typed<Deployment>(DeploymentSchema),
      filter: DeploymentSchema,
      sorts: sortsOf.deployments,
      permission: readJob,
    },
    deployment: {
      kind: 'read',
      path: '/v1/job/:job_id+/deployment',
      summary: "Read a job's latest deployment; null when there is none",
      blocking: true,
      answer: Nullable(DeploymentSchema),
      permission: readJob,
    },
    summary: {
      kind: 'read',
      path: '/v1/job/:job_id+/summary',
      summary: "Read a job's summary",
      blocking: true,
      answer: typed<JobSummary>(JobSummarySchema),
      permission: readJob,
    },
  },
);
