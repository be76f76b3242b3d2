import type { AllocationStub } from '../../model/allocation/allocation-stub.ts';
import { driversOf } from '../../model/allocation/placement-words.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import type { PresentedEvaluation } from '../../model/evaluation/present.ts';
import type { Job } from '../../model/job/job.ts';
import type { JobStub } from '../../model/job/job-stub.ts';
import { storedJobWarnings } from '../../model/job/stored-faults.ts';
import type { JobSummary } from '../../model/job-summary/job-summary.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, filterOption, verbose } from '../definition.ts';
import { printGroups } from '../deployment/render.ts';
import { CliError, exitCodes } from '../errors.ts';
import { type Columns, printRecords, printTable } from '../list-command.ts';
import { withJob } from '../nouns.ts';
import { addressesOf } from '../render/addresses.ts';
import { allocationColumns, printAllocationTable } from '../render/allocation-table.ts';
import { printPlacementFailures, reasonsOfDrivers } from '../render/placement.ts';
import { ago, oneLine, orDash } from '../render/text.ts';
import { printInstances } from '../service/instances.ts';
import { isPattern, patternFields, printChildren, readChildren } from './pattern.ts';

export const jobStatus: ClientCommand = {
  words: ['job', 'status'],
  summary: 'List the jobs, or show a job.',
  definition: {
    isPaged: true,
    arguments: [
      {
        name: 'JOB',
        kind: 'job',
        isRequired: false,
        description: 'Id of the job. Default: all jobs.',
      },
    ],
    options: [
      { name: 'all', description: 'Include allocations of earlier jobs with the same id.' },
      { ...filterOption, description: 'Only jobs that match the expression.' },
      verbose,
    ],
  },
  async run(context, [job], options) {
    const filter = options.text('filter');
    if (job === undefined) return listJobs(context, filter);
    if (filter !== undefined) throw new CliError('--filter is for the list of jobs.');
    return withJob(context, job, () => showJob(context, job, options.flag('all')));
  },
};

async function listJobs(context: Context, filter: string | undefined): Promise<number> {
  const { value: jobs } = await context.client.jobs.list({ filter });
  const empty =
    filter === undefined
      ? 'There are no jobs. Run one with "roster job run FILE".'
      : 'No job matches the filter.';
  return printRecords(context, jobs, { records: jobs, empty, columns: jobColumns(context) });
}

const jobColumns = ({ namespace }: Context): Columns<JobStub> => ({
  ID: ({ ID }) => oneLine(ID),
  ...(namespace === '*' && { Namespace: ({ Namespace }) => oneLine(Namespace) }),
  Type: ({ Type }) => Type,
  Priority: ({ Priority }) => String(Priority),
  Status: ({ Status, Stop }, { screen }) => screen.status(Status) + (Stop ? ' (stopped)' : ''),
  Running: runningOf,
  Submitted: ({ SubmitTime }, { nowMs }) => ago(SubmitTime, nowMs),
});

/** Running and wanted allocations: `2/3`. */
function runningOf({ JobSummary: summary }: JobStub): string {
  const groups = Object.values(summary?.Summary ?? {});
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const running = sum(groups.map(({ Running }) => Running));
  const waiting = sum(groups.map(({ Queued, Starting }) => Queued + Starting));
  return `${running}/${running + waiting}`;
}

async function showJob(context: Context, id: string, all: boolean): Promise<number> {
  const { client, isJson } = context;
  // One after the other, so that a missing job causes a single error.
  const { value: job } = await client.jobs.read(id);
  const children = isPattern(job) ? await readChildren(context, id) : undefined;
  const [summary, allocations, evaluations, deployment, services] = await Promise.all([
    client.jobs.summary(id),
    client.jobs.allocations(id, { all, resources: true }),
    client.jobs.evaluations(id),
    client.jobs.deployment(id),
    client.jobs.services(id),
  ]);
  if (isJson) {
    await context.json({
      Job: job,
      Summary: summary.value,
      Allocations: allocations.value,
      Evaluations: evaluations.value,
      Deployment: deployment.value,
      Services: services.value,
      Warnings: storedJobWarnings(job),
      ...(children && { Children: children }),
    });
    return exitCodes.ok;
  }
  await printHead(context, job);
  if (children !== undefined) {
    await printChildren(context, summary.value, children);
    return exitCodes.ok;
  }
  await printSummary(context, summary.value);
  if (deployment.value !== null) await printLatest(context, deployment.value);
  await printBlocked(context, evaluations.value, job);
  if (services.value.length > 0) {
    await context.screen.title('Services');
    await printInstances(context, services.value, { isNamed: true });
  }
  await context.screen.title('Allocations');
  await printAllocations(context, allocations.value);
  if (context.isVerbose) await printEvaluations(context, evaluations.value);
  return exitCodes.ok;
}

async function printHead({ screen, nowMs }: Context, job: Job): Promise<void> {
  const { Periodic, ParameterizedJob } = job;
  const facets = [Periodic && 'periodic', ParameterizedJob && 'parameterized'].filter(Boolean);
  await screen.fields([
    ['ID', oneLine(job.ID)],
    ...(job.Name === job.ID ? [] : [['Name', oneLine(job.Name)] as const]),
    ['Namespace', oneLine(job.Namespace)],
    ['Type', [job.Type, ...facets].join(', ')],
    ['Status', screen.status(job.Status) + (job.Stop ? ' (stopped)' : '')],
    ...(job.StatusDescription === ''
      ? []
      : [['Description', oneLine(job.StatusDescription)] as const]),
    ['Priority', String(job.Priority)],
    ['Datacenters', oneLine((job.Datacenters ?? []).join(', '))],
    ['Node pool', orDash(job.NodePool)],
    ['Version', String(job.Version)],
    ['Submitted', ago(job.SubmitTime, nowMs)],
    ...patternFields(job, nowMs),
  ]);
  for (const { message } of storedJobWarnings(job)) {
    await screen.line(screen.colors.yellow(`Warning: ${oneLine(message)}`));
  }
}

async function printSummary({ screen }: Context, summary: JobSummary): Promise<void> {
  await screen.title('Summary');
  await screen.table(
    ['Group', 'Queued', 'Starting', 'Running', 'Failed', 'Complete', 'Lost', 'Unknown'],
    Object.entries(summary.Summary).map(([group, counts]) => [
      oneLine(group),
      ...[counts.Queued, counts.Starting, counts.Running, counts.Failed]
        .concat([counts.Complete, counts.Lost, counts.Unknown])
        .map(String),
    ]),
  );
}

async function printLatest(context: Context, deployment: Deployment): Promise<void> {
  const { screen, id } = context;
  const { ID, JobVersion, Status, StatusDescription } = deployment;
  await screen.title('Latest deployment');
  await screen.fields([
    ['ID', id(ID)],
    ['Version', String(JobVersion)],
    ['Status', `${screen.status(Status)} (${oneLine(StatusDescription)})`],
  ]);
  await printGroups(context, deployment);
}

/** The groups that wait for room, and why. */
async function printBlocked(
  context: Context,
  evaluations: readonly PresentedEvaluation[],
  job: Job,
): Promise<void> {
  const blocked = evaluations.find(({ Status }) => Status === 'blocked');
  if (blocked === undefined) return;
  const cause = Object.keys(blocked.FailedTGAllocs ?? {}).length > 0 ? blocked : undefined;
  const before = evaluations.find(({ BlockedEval }) => BlockedEval === blocked.ID);
  const FailedTGAllocs = (cause ?? before)?.FailedTGAllocs ?? null;
  if (FailedTGAllocs === null) return;
  const { screen } = context;
  await screen.title('Waiting for room');
  await printPlacementFailures(screen, FailedTGAllocs, {
    drivers: driversOf(job),
    reasons: await reasonsOfDrivers(context, { ...blocked, FailedTGAllocs }),
  });
}

export async function printAllocations(
  context: Context,
  allocations: readonly AllocationStub[],
): Promise<void> {
  if (allocations.length === 0) return context.screen.line('None.');
  const { ID, Name, Node, ...others } = allocationColumns;
  await printAllocationTable(context, allocations, {
    ID,
    Name,
    Node,
    Version: ({ JobVersion }) => String(JobVersion),
    ...others,
    Addresses: (allocation) =>
      isOver(allocation) ? '' : addressesOf(allocation.AllocatedResources).join(' '),
  });
}

/** The ports of an ended allocation may belong to another allocation. */
const isOver = ({ ClientStatus }: AllocationStub): boolean =>
  ClientStatus === 'complete' || ClientStatus === 'failed' || ClientStatus === 'lost';

async function printEvaluations(
  context: Context,
  evaluations: readonly PresentedEvaluation[],
): Promise<void> {
  await context.screen.title('Evaluations');
  const newestFirst = [...evaluations].sort((left, right) => right.CreateIndex - left.CreateIndex);
  await printTable(context, newestFirst, {
    ID: ({ ID }, { id }) => id(ID),
    Priority: ({ Priority }) => String(Priority),
    'Triggered by': ({ TriggeredBy }) => TriggeredBy,
    Status: ({ Status }, { screen }) => screen.status(Status),
    Placement: ({ FailedTGAllocs }) =>
      Object.keys(FailedTGAllocs ?? {}).length > 0 ? 'incomplete' : '-',
    Created: ({ CreateTime }, { nowMs }) => ago(CreateTime, nowMs),
  });
}
