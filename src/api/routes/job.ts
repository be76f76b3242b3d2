import { AllocationSchema } from '../../model/allocation/allocation.ts';
import { AllocationStubSchema, allocationStub } from '../../model/allocation/allocation-stub.ts';
import { checkValues } from '../../model/check-values.ts';
import { type Deployment, DeploymentSchema } from '../../model/deployment/deployment.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { PresentedEvaluationSchema, presentEvaluation } from '../../model/evaluation/present.ts';
import { type Job, JobSchema } from '../../model/job/job.ts';
import { JobStubSchema, jobStub } from '../../model/job/job-stub.ts';
import { JobSubmissionSchema } from '../../model/job-submission/job-submission.ts';
import { JobSummarySchema } from '../../model/job-summary/job-summary.ts';
import { limits } from '../../model/limits.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import { below, faultAt } from '../../model/path.ts';
import { allOf, anyOf, namespaceCapability } from '../../model/permission/permission.ts';
import { Flag, Nullable, Text, Type, Whole } from '../../model/schema.ts';
import type { ServerContext } from '../../server/context.ts';
import type { Planner } from '../../server/jobs/planner.ts';
import { type Finish, type Registration, registerJob } from '../../server/jobs/register.ts';
import { stopJob } from '../../server/jobs/stop.ts';
import {
  allocations,
  deployments,
  evaluations,
  inNamespace,
  jobSummaries,
  jobs,
} from '../../state/tables.ts';
import type { RangeReader, Stamps } from '../../state/types.ts';
import { scanPage } from '../list.ts';
import type { QueryTable } from '../query.ts';
import {
  type Input,
  listRoute,
  type PageStart,
  type Route,
  readRoute,
  type Scope,
  writeRoute,
} from '../route.ts';
import type { Turns } from '../turns.ts';
import { stubOptions, stubQuery } from './allocation.ts';
import { demandTokens, type JobTokens } from './job-tokens.ts';
import { volumePermissions } from './job-volumes.ts';

/**
 * What a write that may end in an evaluation answers (docs/behaviour/jobs.md#answers-of-writes).
 */
export const EvaluatedSchema = Type.Object({
  EvalID: Text(),
  EvalCreateIndex: Whole(),
  JobModifyIndex: Whole(),
  Warnings: Type.Optional(Text()),
  Index: Whole(),
  LastContact: Whole(),
  KnownLeader: Flag(),
});

/** What stands around a job; its values are checked here, the job's with all its other rules. */
const envelope = {
  EnforceIndex: Flag(),
  JobModifyIndex: Whole({ minimum: 0 }),
  EvalPriority: Whole({ minimum: 0, maximum: limits.job.priorityMax }),
  PolicyOverride: Flag(),
  PreserveCounts: Flag(),
  PreserveResources: Flag(),
  /** Do just what this plan says, or nothing. */
  PlanID: Text(),
  Namespace: Text(),
  Region: Text(),
};
const EnvelopeSchema = Type.Object(envelope);
const RegistrationSchema = Type.Object({
  Job: Nullable(JobSchema),
  Submission: Nullable(JobSubmissionSchema),
  ...envelope,
});

interface RegistrationBody {
  readonly Job?: Registration['job'] | null;
  readonly Submission?: Registration['submission'] | null;
  readonly EnforceIndex?: boolean;
  readonly JobModifyIndex?: number;
  readonly EvalPriority?: number;
  readonly PolicyOverride?: boolean;
  readonly PreserveCounts?: boolean;
  readonly PreserveResources?: boolean;
  readonly PlanID?: string;
  readonly Region?: string;
}

export const jobId = (scope: Pick<Scope, 'parameters'>): string => scope.parameters.job_id!;

export const readJob = (input: Pick<Input, 'namespace'>) =>
  namespaceCapability(input.namespace, 'read-job');

/** `submit-job`, or a capability that is a part of it. */
export const submitOr = (namespace: string, ...parts: readonly string[]) =>
  anyOf(...['submit-job', ...parts].map((part) => namespaceCapability(namespace, part)));

const submitJob = (input: Input<QueryTable, RegistrationBody>) => {
  const submit = submitOr(input.namespace, 'register-job');
  const { PolicyOverride, Job } = input.body;
  const more = [
    ...(PolicyOverride ? [namespaceCapability(input.namespace, 'policy-override')] : []),
    ...volumePermissions(Job),
  ];
  return more.length === 0 ? submit : allOf(submit, ...more);
};

/** @throws RosterError `job-not-found` */
export function requireJob(scope: Scope): Job {
  const job = scope.snapshot.table(jobs).get(...inNamespace(scope.namespace, jobId(scope)));
  if (job === undefined) {
    throw refusal('job-not-found', { job: jobId(scope), namespace: scope.namespace });
  }
  return job;
}

/**
 * The job of a sub-list. Its own changes are none of the sub-list's, so it is read beside what is
 * watched; one that is missing is waited for.
 */
export function existingJob(scope: Scope): Job {
  const key = inNamespace(scope.namespace, jobId(scope));
  return scope.unwatched.table(jobs).get(...key) ?? requireJob(scope);
}

const everyRegistration = {
  all: {
    kind: 'boolean',
    default: false,
    description: 'Include what belongs to an earlier registration of the same id.',
  },
} as const satisfies QueryTable;

/** Who submits, as it is kept with the job. */
export const accessorOf = ({ caller }: Pick<Scope, 'caller'>): string =>
  caller.kind === 'token' ? caller.accessor : '';

/** The fault of a body that has none. */
export const jobRequired = faultAt(below(null, 'Job'), 'is required');

const countsNotPreserved =
  'PreserveCounts is ignored: it is for registrations through /v1/jobs, not for updates';

const registrationBody = {
  schema: RegistrationSchema,
  unknown: 'report',
  bytesMax: limits.http.jobBodyBytesMax,
  checkValues: false,
} as const;

/** Source: docs/contract/jobs.md#paths, #lists-below-a-job. */
export function jobRoutes(
  server: ServerContext,
  planner: Planner,
  tokens: JobTokens,
  turns: Turns,
): Route[] {
  const finish: Finish = (steps) => turns.finish(steps);
  const register = async (input: Input<QueryTable, RegistrationBody>) => {
    const { body } = input;
    const faults = checkValues(EnvelopeSchema, body);
    if (!body.Job) throw invalid('invalid-body', [jobRequired, ...faults]);
    const isUpdate = input.parameters.job_id !== undefined;
    const registration: Registration = {
      job: body.Region ? { ...body.Job, Region: body.Region } : body.Job,
      namespace: input.namespace,
      jobId: input.parameters.job_id,
      submission: body.Submission ?? undefined,
      enforceIndex: body.EnforceIndex ? (body.JobModifyIndex ?? 0) : undefined,
      evaluationPriority: body.EvalPriority ?? 0,
      // docs/contract/jobs.md#register-a-job: only where a job is created.
      preserveCounts: (body.PreserveCounts ?? false) && !isUpdate,
      preserveResources: body.PreserveResources ?? false,
      sourceOf: body.Job.Version ?? undefined,
      demand: (job) => demandTokens(tokens, server.state.read(), body.Job ?? {}, job),
      policyOverride: body.PolicyOverride ?? false,
      accessor: accessorOf(input),
      unknownFields: input.unknownFields,
      faults,
      warnings: isUpdate && body.PreserveCounts ? [countsNotPreserved] : [],
    };
    const registered = body.PlanID
      ? await planner.carryOut(registration, body.PlanID, finish)
      : await registerJob(server, registration, finish);
    return { index: registered.Index, value: { ...registered, ...contact } };
  };
  const registerRoute = (method: 'PUT' | 'POST', path: string, summary: string) =>
    writeRoute<QueryTable, RegistrationBody>({
      method,
      path,
      noun: 'job',
      summary,
      body: registrationBody,
      answer: EvaluatedSchema,
      permission: submitJob,
      handle: register,
    });

  return [
    listRoute({
      method: 'GET',
      path: '/v1/jobs',
      noun: 'job',
      summary: 'List jobs',
      blocking: true,
      query: {
        prefix: { kind: 'string', default: '', description: 'The beginning of the job id.' },
        meta: { kind: 'boolean', default: false, description: "Include each job's Meta." },
      },
      answer: JobStubSchema,
      filterSchema: JobSchema,
      permission: (input) =>
        input.namespace === everyNamespace
          ? { kind: 'open' }
          : namespaceCapability(input.namespace, 'list-jobs'),
      rows: (input, page) => {
        const range =
          input.namespace === everyNamespace
            ? { prefix: [defaultPartition] }
            : { prefix: inNamespace(input.namespace), text: input.query.prefix };
        // The counters are part of the answer: noted as one range, not job by job.
        input.snapshot.table(jobSummaries).lastIndex(range);
        return input.snapshot.table(jobs).scan({ ...range, ...scanPage(page) });
      },
      keyOf: (job: Job) => [job.Namespace, job.ID],
      matches: (job: Job, input) => job.ID.startsWith(input.query.prefix),
      visible: (job: Job) => namespaceCapability(job.Namespace, 'list-jobs'),
      present: (job: Job, input) => {
        const summary = input.unwatched
          .table(jobSummaries)
          .get(...inNamespace(job.Namespace, job.ID));
        return jobStub(job, summary ?? null, input.query.meta);
      },
    }),
    registerRoute('POST', '/v1/jobs', 'Register a job'),
    registerRoute('PUT', '/v1/jobs', 'Register a job'),
    registerRoute('POST', '/v1/job/:job_id+', 'Update a job'),
    registerRoute('PUT', '/v1/job/:job_id+', 'Update a job'),
    readRoute({
      method: 'GET',
      path: '/v1/job/:job_id+',
      noun: 'job',
      summary: 'Read a job',
      blocking: true,
      answersRow: true,
      answer: JobSchema,
      permission: readJob,
      handle: requireJob,
    }),
    writeRoute({
      method: 'DELETE',
      path: '/v1/job/:job_id+',
      noun: 'job',
      summary: 'Stop a job',
      query: {
        purge: { kind: 'boolean', default: false, description: 'Forget the job at once.' },
        global: {
          kind: 'boolean',
          default: false,
          description: 'In all regions; ignored for a job of one region.',
        },
        eval_priority: {
          kind: 'integer',
          default: 0,
          maximum: limits.job.priorityMax,
          description: "Priority of the evaluation; 0: the job's.",
        },
        no_shutdown_delay: {
          kind: 'boolean',
          default: false,
          description: 'Do not wait for shutdown delays.',
        },
      },
      answer: EvaluatedSchema,
      permission: ({ namespace, query }) =>
        query.purge
          ? submitOr(namespace, 'purge-job')
          : submitOr(namespace, 'purge-job', 'deregister-job'),
      handle: async (input) => {
        const stopped = await stopJob(server, {
          namespace: input.namespace,
          jobId: input.parameters.job_id!,
          purge: input.query.purge,
          evaluationPriority: input.query.eval_priority,
          noShutdownDelay: input.query.no_shutdown_delay,
        });
        return { index: stopped.Index, value: { ...stopped, ...contact } };
      },
    }),
    listRoute({
      method: 'GET',
      path: '/v1/job/:job_id+/allocations',
      noun: 'job',
      summary: "List a job's allocations",
      blocking: true,
      query: { ...everyRegistration, ...stubQuery },
      answer: AllocationStubSchema,
      filterSchema: AllocationSchema,
      permission: readJob,
      rows: (input, page) =>
        ofRegistration(input.snapshot.table(allocations).by('job'), input, page),
      keyOf: ({ Namespace, JobID, ID }) => [Namespace, JobID, defaultPartition, Namespace, ID],
      present: (allocation, input) =>
        allocationStub(allocation, existingJob(input).Type, stubOptions(input.query)),
    }),
    listRoute({
      method: 'GET',
      path: '/v1/job/:job_id+/evaluations',
      noun: 'job',
      summary: "List a job's evaluations",
      blocking: true,
      query: everyRegistration,
      answer: PresentedEvaluationSchema,
      filterSchema: PresentedEvaluationSchema,
      record: presentEvaluation,
      permission: readJob,
      rows: (input, page) => {
        const prefix = inNamespace(input.namespace, existingJob(input).ID);
        return input.snapshot
          .table(evaluations)
          .by('job')
          .scan({ prefix, ...scanPage(page) });
      },
      // What was made for an earlier registration was made before this one.
      matches: ({ CreateIndex }, input: Input<typeof everyRegistration>) =>
        input.query.all || CreateIndex >= existingJob(input).CreateIndex,
      keyOf: ({ Namespace, JobID, ID }) => [Namespace, JobID, defaultPartition, Namespace, ID],
      present: presentEvaluation,
    }),
    listRoute({
      method: 'GET',
      path: '/v1/job/:job_id+/deployments',
      noun: 'job',
      summary: "List a job's deployments",
      blocking: true,
      query: everyRegistration,
      answer: DeploymentSchema,
      filterSchema: DeploymentSchema,
      permission: readJob,
      rows: (input, page) =>
        ofRegistration(input.snapshot.table(deployments).by('job'), input, page),
      keyOf: ({ Namespace, JobID, ID }) => [Namespace, JobID, defaultPartition, Namespace, ID],
      present: (deployment) => deployment,
    }),
    readRoute({
      method: 'GET',
      path: '/v1/job/:job_id+/deployment',
      noun: 'job',
      summary: "Read a job's latest deployment; null when there is none",
      blocking: true,
      answer: Nullable(DeploymentSchema),
      permission: readJob,
      handle: latestDeployment,
    }),
    readRoute({
      method: 'GET',
      path: '/v1/job/:job_id+/summary',
      noun: 'job',
      summary: "Read a job's summary",
      blocking: true,
      answersRow: true,
      answer: JobSummarySchema,
      permission: readJob,
      handle: (input) => {
        const key = inNamespace(input.namespace, existingJob(input).ID);
        return input.snapshot.table(jobSummaries).get(...key);
      },
    }),
  ];
}

/** Of the job as it is registered now; null when there is none. */
function latestDeployment(scope: Scope): Deployment | null {
  const job = existingJob(scope);
  const ofJob = scope.snapshot.table(deployments).by('job');
  let latest: Deployment | null = null;
  for (const one of ofJob.scan({ prefix: inNamespace(scope.namespace, job.ID) })) {
    if (one.JobCreateIndex !== job.CreateIndex) continue;
    if (latest === null || one.CreateIndex >= latest.CreateIndex) latest = one;
  }
  return latest;
}

/** These answers are the leader's own. */
export const contact = { LastContact: 0, KnownLeader: true } as const;

/** What belongs to the job as it is registered now, or with `all` to its id. */
function* ofRegistration<R extends Stamps & { readonly JobCreateIndex: number }>(
  rows: RangeReader<R>,
  input: Input<typeof everyRegistration>,
  page: PageStart,
): Iterable<R> {
  const job = existingJob(input);
  const range = { prefix: inNamespace(input.namespace, job.ID), ...scanPage(page) };
  for (const row of rows.scan(range)) {
    if (input.query.all || row.JobCreateIndex === job.CreateIndex) yield row;
  }
}
