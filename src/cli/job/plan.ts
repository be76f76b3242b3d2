import { noInstant } from '../../base/instant.ts';
import { type Drivers, driversOf } from '../../model/allocation/placement-words.ts';
import { decode } from '../../model/codec.ts';
import type { DesiredUpdates } from '../../model/evaluation/evaluation.ts';
import { canonicalizeJob } from '../../model/job/canonicalize.ts';
import { JobSchema } from '../../model/job/job.ts';
import type { JobPlan } from '../../model/job-plan/job-plan.ts';
import type { JobPlanRequest, JobRegistration } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { CliError } from '../errors.ts';
import { nameIn, openJobFile, type ReadJob, variableOptions } from '../job-file.ts';
import { FileWarnings } from '../job-warnings.ts';
import type { Options } from '../options.ts';
import { printJobDiff } from '../render/job-diff.ts';
import { printPlacementFailures } from '../render/placement.ts';
import { oneLine, orDash, plural, quoted } from '../render/text.ts';
import { policyOverride, preserveCounts, preserveResources } from './run.ts';
import { writtenDiff } from './written-diff.ts';

/** Source: docs/guides/jobs.md#plan-then-run. */
const planExitCodes = { nothing: 0, changes: 1, error: 255 } as const;

/** The number of changes that are shown without `-verbose`. */
const rowsShown = 20;

export const jobPlan: ClientCommand = {
  words: ['job', 'plan'],
  summary: 'Show the changes that a job file would make.',
  definition: {
    isPaged: true,
    arguments: [
      {
        name: 'FILE',
        kind: 'file',
        isRequired: true,
        description: 'A job file, as "roster job run" takes it; - is standard input.',
      },
    ],
    options: [
      ...variableOptions,
      {
        name: 'diff',
        value: 'BOOLEAN',
        choices: ['true', 'false'],
        description: 'Whether to show the difference from the registered job.',
      },
      {
        name: 'keep',
        value: 'BOOLEAN',
        choices: ['true', 'false'],
        description: 'Whether to keep the plan, so that it can be carried out by its id.',
      },
      policyOverride,
      preserveCounts,
      preserveResources,
      verbose,
    ],
    errorExitCode: planExitCodes.error,
    details: `Registers nothing. "roster job run -plan ID FILE" carries the printed plan out exactly, or refuses
with the differences. The plan is kept for that for 30 minutes; -keep=false stores nothing. New parts are shown with the fields of the file; -verbose shows the
defaults, too.
Exit codes: 0 nothing changes, 1 something changes, 255 an error.

Examples:
  roster job plan web.hcl
  roster job plan -diff=false - < web.json`,
  },
  async run(context, [file], options) {
    const isDiffShown = flagOf(options, 'diff');
    const read = await openJobFile(context.environment, file!, options);
    const { Job, ...rest } = read.registration;
    const asked = {
      Job,
      Diff: true,
      Keep: flagOf(options, 'keep'),
      PolicyOverride: (options.flag('policyOverride') || rest.PolicyOverride) ?? false,
      PreserveCounts: (options.flag('preserveCounts') || rest.PreserveCounts) ?? false,
      PreserveResources: (options.flag('preserveResources') || rest.PreserveResources) ?? false,
    };
    const plan = await planned(context, read, asked);
    const words = [...givenWords(options), quoted(file!)].join(' ');
    const warnings = new FileWarnings(read, plan.Warnings);
    if (context.isJson) await context.json({ ...plan, WarningPlaces: warnings.placed });
    else await showPlan(context, plan, { words, isDiffShown, job: Job, warnings });
    return isNothing(plan) ? planExitCodes.nothing : planExitCodes.changes;
  },
};

async function planned({ client }: Context, read: ReadJob, asked: JobPlanRequest) {
  try {
    return (await client.jobs.plan(idOf(asked.Job), asked)).value;
  } catch (error) {
    throw read.explain(error);
  }
}

/** The given options, repeated in the suggested commands. */
const givenWords = (options: Options): readonly string[] => [
  ...options.list('varFile').map((file) => `-var-file ${quoted(file)}`),
  ...options.list('var').map((assignment) => `-var ${quoted(assignment)}`),
  ...(options.flag('policyOverride') ? ['-policy-override'] : []),
  ...(options.flag('preserveCounts') ? ['-preserve-counts'] : []),
  ...(options.flag('preserveResources') ? ['-preserve-resources'] : []),
];

function flagOf(options: Options, name: string): boolean {
  const text = options.text(name);
  if (text === undefined || text === 'true') return true;
  if (text === 'false') return false;
  throw new CliError(`--${name} must be true or false, got "${text}".`);
}

function idOf(job: JobRegistration['Job']): string {
  const { id } = nameIn(job);
  if (id !== undefined) return id;
  throw new CliError('The job has no ID.', { hint: 'A job file names the job by its "ID".' });
}

/** Whether all allocations stay unchanged. */
function isNothing({ Diff, Annotations }: JobPlan): boolean {
  const doesNothing = ({ Ignore, ...others }: DesiredUpdates) =>
    Object.values(others).every((count) => count === 0);
  return Diff?.Type === 'None' && Object.values(Annotations.DesiredTGUpdates).every(doesNothing);
}

interface Shown {
  /** The typed words for the file and its variables. */
  readonly words: string;
  readonly isDiffShown: boolean;
  /** The job as it was sent. */
  readonly job: JobPlanRequest['Job'];
  readonly warnings: FileWarnings;
}

async function showPlan(context: Context, plan: JobPlan, shown: Shown): Promise<void> {
  const { screen, isVerbose } = context;
  if (shown.isDiffShown && plan.Diff !== null) {
    const told = isVerbose ? plan.Diff : writtenDiff(plan.Diff, shown.job);
    await printJobDiff(screen, told, { isVerbose });
    await screen.line();
  }
  await screen.line(screen.colors.bold('Scheduler dry-run:'));
  await showOutcome(context, plan, shown.job);
  await showChanges(context, plan);
  await shown.warnings.print(screen);
  await showNext(context, plan, shown.words);
}

async function showOutcome(
  { screen, id }: Context,
  plan: JobPlan,
  job: Shown['job'],
): Promise<void> {
  if (plan.FailedTGAllocs === null) {
    await screen.line(screen.colors.green('- All allocations find a node.'));
  } else {
    await screen.line(screen.colors.yellow('- Not all allocations find a node:'));
    await printPlacementFailures(screen, plan.FailedTGAllocs, { drivers: driversIn(job) });
  }
  for (const { ID, Status, WaitUntil, StatusDescription } of plan.CreatedEvals ?? []) {
    const when = WaitUntil !== noInstant ? 'comes later' : `is ${screen.status(Status)}`;
    await screen.line(`- Evaluation ${id(ID)} ${when}: ${oneLine(StatusDescription)}`);
  }
  if (plan.NextPeriodicLaunch !== noInstant) {
    await screen.line(`- It is launched next at ${plan.NextPeriodicLaunch}.`);
  }
}

const driversIn = (job: Shown['job']): Drivers =>
  driversOf(canonicalizeJob(decode(JobSchema, job, { checkValues: false }).value));

async function showChanges({ screen, id, isVerbose }: Context, plan: JobPlan): Promise<void> {
  const { Changes, ChangesHidden } = plan;
  if (Changes.length === 0 && ChangesHidden === 0) return;
  await screen.title('What is done');
  const rows = isVerbose ? Changes : Changes.slice(0, rowsShown);
  await screen.table(
    ['Action', 'Name', 'Node', 'Node ID', 'Allocation', 'Why'],
    rows.map((one) => [
      one.Canary ? 'place canary' : one.Action,
      oneLine(one.Name),
      orDash(one.NodeName),
      id(one.NodeID),
      id(one.AllocID),
      one.PreviousAllocation === '' || one.Action !== 'place'
        ? orDash(one.Description)
        : `replaces ${id(one.PreviousAllocation)}`,
    ]),
  );
  const more = Changes.length - rows.length;
  if (more > 0) await screen.line(`… and ${more} more: -verbose shows all.`);
  if (ChangesHidden > 0) await screen.line(`… and ${plural(ChangesHidden, 'change')} not told.`);
}

async function showNext({ screen }: Context, plan: JobPlan, words: string): Promise<void> {
  const { PlanID, JobModifyIndex } = plan;
  await screen.line();
  await screen.fields([
    ['Plan ID', PlanID === '' ? '-' : PlanID],
    ['Job Modify Index', String(JobModifyIndex)],
  ]);
  await screen.line();
  await screen.line('To submit the job, provided that nobody changes it meanwhile:');
  await screen.line(`  roster job run -check-index ${JobModifyIndex} ${words}`);
  if (PlanID === '') return;
  await screen.line('To have just this plan carried out, or nothing:');
  await screen.line(`  roster job run -plan ${PlanID} ${words}`);
}
