import {
  jobEndpoints as contract,
  type everyRegistration,
  RegistrationEnvelopeSchema,
} from '../../contract/job.ts';
import { allocationStub } from '../../model/allocation/allocation-stub.ts';
import { checkValues } from '../../model/check-values.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { presentEvaluation } from '../../model/evaluation/present.ts';
import type { Job } from '../../model/job/job.ts';
import { jobStub } from '../../model/job/job-stub.ts';
import type { JobSummary } from '../../model/job-summary/job-summary.ts';
import { accessorOf as callerOf } from '../../model/kept-answer/kept-answer.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import { below, faultAt } from '../../model/path.ts';
import { namespaceCapability } from '../../model/permission/permission.ts';
import type { ServerContext } from '../../server/context.ts';
import type { Planner } from '../../server/jobs/plan/planner.ts';
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
import type { RangeReader, Snapshot, Stamps } from '../../state/types.ts';
import { scanPage } from '../list.ts';
import { isWithin } from '../oldest-first.ts';
import type { BaseInput, Input, PageStart, Route } from '../route.ts';
import { type InputOf, serveList, serveRead, serveWrite } from '../serve.ts';
import type { Turns } from '../turns.ts';
import { stubOptions } from './allocation.ts';
import { demandTokens, type JobTokens } from './job-tokens.ts';

export const jobId = (scope: Pick<BaseInput, 'parameters'>): string => scope.parameters.job_id!;

/** @throws RosterError `job-not-found` */
export function requireJob(scope: BaseInput): Job {
  const job = scope.snapshot.table(jobs).get(...inNamespace(scope.namespace, jobId(scope)));
  return job ?? noJob(scope);
}

function noJob(scope: BaseInput): never {
  throw refusal('job-not-found', { job: jobId(scope), namespace: scope.namespace });
}

/**
 * The job of a list below it. The list has the rows of a registration, so a purge and a new registration of the
 * job are changes of the list. Updates of the job are none.
 * @throws RosterError `job-not-found`
 */
export function existingJob(scope: BaseInput): Job {
  const prefix = inNamespace(scope.namespace, jobId(scope));
  return scope.snapshot.table(jobs).by('registration').find({ prefix }) ?? noJob(scope);
}

/** The job of a row in such a list. */
const listedJob = (scope: BaseInput): Job =>
  scope.unwatched.table(jobs).get(...inNamespace(scope.namespace, jobId(scope)))!;

/** The accessor that is stored with the job. */
export const accessorOf = ({ caller }: Pick<BaseInput, 'caller'>): string =>
  caller.kind === 'token' ? caller.accessor : '';

export const jobRequired = faultAt(below(null, 'Job'), 'is required');

const countsNotPreserved =
  'PreserveCounts is ignored: it is for registrations through /v1/jobs, not for updates';

function registering(
  server: ServerContext,
  planner: () => Planner,
  tokens: JobTokens,
  turns: Turns,
) {
  const finish: Finish = (steps) => turns.finish(steps);
  return async (input: InputOf<typeof contract.register>) => {
    const { body } = input;
    const faults = checkValues(RegistrationEnvelopeSchema, body);
    if (!body.Job) throw invalid('invalid-body', [jobRequired, ...faults]);
    const isUpdate = input.parameters.job_id !== undefined;
    const registration: Registration = {
      job: body.Region ? { ...body.Job, Region: body.Region } : body.Job,
      namespace: input.namespace,
      jobId: input.parameters.job_id,
      submission: body.Submission ?? undefined,
      enforceIndex: body.EnforceIndex ? (body.JobModifyIndex ?? 0) : undefined,
      evaluationPriority: body.EvalPriority ?? 0,
      // Counts are preserved on creation only (docs/contract/jobs.md#register-a-job).
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
    const wanted = {
      id: body.PlanID ?? '',
      caller: callerOf(input.caller),
      mayRead: (name: string) => input.allows(namespaceCapability(name, 'read-job')),
    };
    const registered = body.PlanID
      ? await planner().carryOut(registration, wanted, finish)
      : await registerJob(server, registration, finish);
    return { index: registered.Index, value: { ...registered, ...contact } };
  };
}

/** Source: docs/contract/jobs.md#paths, #lists-below-a-job. */
export function jobRoutes(
  server: ServerContext,
  planner: () => Planner,
  tokens: JobTokens,
  turns: Turns,
): Route[] {
  const register = registering(server, planner, tokens, turns);
  return [
    ...serveList(contract.list, {
      rows: (input, page) => {
        const range =
          input.namespace === everyNamespace
            ? { prefix: [defaultPartition] }
            : { prefix: inNamespace(input.namespace), text: input.query.prefix };
        // The answer contains counters. One range in the footprint is cheaper than one entry per
        // job.
        input.snapshot.table(jobSummaries).lastIndex(range);
        return input.snapshot.table(jobs).scan({ ...range, ...scanPage(page) });
      },
      keyOf: (job: Job) => [job.Namespace, job.ID],
      follows: ({ namespace }) => ({
        table: jobs.name,
        order: 'up',
        isIn: (job) => isWithin(job, namespace),
      }),
      matches: (job: Job, input) => job.ID.startsWith(input.query.prefix),
      present: (job: Job, { unwatched, query }) =>
        jobStub(job, summaryOf(unwatched, job), query.meta),
      shows: ({ unwatched, query }) =>
        query.meta ? undefined : (job: Job) => summaryOf(unwatched, job),
      // The range above has it all.
      reads: () => {},
    }),
    ...serveWrite(contract.register, register),
    ...serveWrite(contract.update, register),
    ...serveRead(contract.read, requireJob, { answersRow: true }),
    ...serveWrite(contract.stop, async (input) => {
      const stopped = await stopJob(server, {
        namespace: input.namespace,
        jobId: input.parameters.job_id!,
        purge: input.query.purge,
        evaluationPriority: input.query.eval_priority,
        noShutdownDelay: input.query.no_shutdown_delay,
      });
      return { index: stopped.Index, value: { ...stopped, ...contact } };
    }),
    ...listsOfJob(),
  ];
}

const summaryOf = (snapshot: Snapshot, { Namespace, ID }: Job): JobSummary | null =>
  snapshot.table(jobSummaries).get(...inNamespace(Namespace, ID)) ?? null;

/** Lists below a job. */
function listsOfJob(): Route[] {
  return [
    ...serveList(contract.allocations, {
      rows: (input, page) =>
        ofRegistration(input.snapshot.table(allocations).by('job'), input, page),
      keyOf: ({ Namespace, JobID, ID }) => [Namespace, JobID, defaultPartition, Namespace, ID],
      present: (allocation, input) =>
        allocationStub(allocation, listedJob(input).Type, stubOptions(input.query)),
    }),
    ...serveList(contract.evaluations, {
      record: presentEvaluation,
      rows: (input, page) => {
        const prefix = inNamespace(input.namespace, existingJob(input).ID);
        return input.snapshot
          .table(evaluations)
          .by('job')
          .scan({ prefix, ...scanPage(page) });
      },
      // A lower index means an earlier registration.
      matches: ({ CreateIndex }, input: Input<typeof everyRegistration>) =>
        input.query.all || CreateIndex >= listedJob(input).CreateIndex,
      keyOf: ({ Namespace, JobID, ID }) => [Namespace, JobID, defaultPartition, Namespace, ID],
      present: presentEvaluation,
    }),
    ...serveList(contract.deployments, {
      rows: (input, page) =>
        ofRegistration(input.snapshot.table(deployments).by('job'), input, page),
      keyOf: ({ Namespace, JobID, ID }) => [Namespace, JobID, defaultPartition, Namespace, ID],
      present: (deployment) => deployment,
    }),
    ...serveRead(contract.deployment, latestDeployment),
    ...serveRead(
      contract.summary,
      (input) => {
        const key = inNamespace(input.namespace, existingJob(input).ID);
        return input.snapshot.table(jobSummaries).get(...key)!;
      },
      { answersRow: true },
    ),
  ];
}

/** The latest deployment of the current registration; null if there is none. */
function latestDeployment(scope: BaseInput): Deployment | null {
  const job = existingJob(scope);
  const ofJob = scope.snapshot.table(deployments).by('job');
  let latest: Deployment | null = null;
  for (const one of ofJob.scan({ prefix: inNamespace(scope.namespace, job.ID) })) {
    if (one.JobCreateIndex !== job.CreateIndex) continue;
    if (latest === null || one.CreateIndex >= latest.CreateIndex) latest = one;
  }
  return latest;
}

/** The leader answers, so its contact is immediate. */
export const contact = { LastContact: 0, KnownLeader: true } as const;

/** The rows of the current registration; with `all`, of every registration with this id. */
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
