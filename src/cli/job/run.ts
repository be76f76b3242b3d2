import { isTerminalDeployment } from '../../model/deployment/deployment.ts';
import { ApiError, type JobRegistered, type JobRegistration } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, detach, type OptionDefinition, verbose } from '../definition.ts';
import { exitCodeOf, monitorDeployment } from '../deployment/monitor.ts';
import { CliError, exitCodes } from '../errors.ts';
import { nameIn, openJobFile, type ReadJob, variableOptions } from '../job-file.ts';
import { FileWarnings } from '../job-warnings.ts';
import { monitorEvaluation } from '../monitor.ts';
import type { Options } from '../options.ts';
import type { Screen } from '../render/screen.ts';
import { quoted } from '../render/text.ts';
import { patternLines } from './pattern.ts';

export const checkIndex: OptionDefinition = {
  name: 'check-index',
  value: 'N',
  description: 'Only if the JobModifyIndex of the job is still N; 0: only if it is new.',
};

const planned: OptionDefinition = {
  name: 'plan',
  value: 'ID',
  description: 'Do just what "roster job plan" printed under this id, or nothing.',
};

export const policyOverride: OptionDefinition = {
  name: 'policy-override',
  description: 'Pass by soft-mandatory job policies; takes namespace:policy-override.',
};

export const preserveCounts: OptionDefinition = {
  name: 'preserve-counts',
  description: 'Keep the counts of the registered job.',
};

export const preserveResources: OptionDefinition = {
  name: 'preserve-resources',
  description: 'Keep the resources of the tasks of the registered job.',
};

/** What both options say, as a body has it. */
export const givenGuards = (options: Options) => ({
  ...guardOf(options.text('checkIndex')),
  ...(options.flag('policyOverride') && { PolicyOverride: true }),
});

export const jobRun: ClientCommand = {
  definition: {
    arguments: [
      {
        name: 'FILE',
        kind: 'file',
        isRequired: true,
        description: 'A job in HCL, or in JSON with or without {"Job": …}; - is standard input.',
      },
    ],
    options: [
      ...variableOptions,
      detach,
      checkIndex,
      planned,
      policyOverride,
      preserveCounts,
      preserveResources,
      verbose,
    ],
    details: `It watches until everything runs; where the job is deployed in steps, until that is over.
Exit codes: 0 everything runs, 1 an error, 2 not everything could be placed, started or deployed.

Examples:
  roster job run examples/web.hcl
  roster job run -var greeting=Moin examples/variables.hcl
  roster job run -detach - < web.json`,
  },
  async run(context, [file], options) {
    const guards = {
      ...givenGuards(options),
      ...planOf(options.text('plan')),
      ...(options.flag('preserveCounts') && { PreserveCounts: true }),
      ...(options.flag('preserveResources') && { PreserveResources: true }),
    };
    if (file === '-' && context.environment.stdin.isTerminal) {
      await context.notes.line('Reading the job from standard input; end it with Ctrl-D.');
    }
    const read = await openJobFile(context.environment, file!, options);
    const { value: registered } = await register(context, read, guards, file!);
    const log = context.isJson ? context.notes : context.screen;
    const warnings = new FileWarnings(read, registered.Warnings);
    await warnings.print(log);
    const answer = { ...registered, WarningPlaces: warnings.placed };
    if (registered.EvalID === '') return tellPattern(context, read, answer);
    if (options.flag('detach')) return done(context, answer);

    await log.line(`Job registered (JobModifyIndex ${registered.JobModifyIndex}).`);
    try {
      const { exitCode, ...outcome } = await context.untilInterrupted((signal) =>
        watchRun(context, registered, log, signal),
      );
      if (context.isJson) await context.json({ ...answer, ...outcome });
      else await log.line(`See "roster job status ${quoted(outcome.Evaluation.JobID)}".`);
      return exitCode;
    } catch (error) {
      await context.notes.line('No longer watching; the job stays registered.');
      throw error;
    }
  },
};

/** Until everything has started and, where there is a deployment, until that is over. */
export async function watchRun(
  context: Context,
  registered: Pick<JobRegistered, 'EvalID' | 'EvalCreateIndex' | 'JobModifyIndex'>,
  log: Screen,
  signal: AbortSignal,
) {
  const outcome = await monitorEvaluation(context, registered.EvalID, log, signal);
  const { evaluation: Evaluation, allocations: Allocations, exitCode, isPlaced } = outcome;
  const started = isPlaced ? await deploymentOf(context, Evaluation.JobID, registered) : undefined;
  if (started === undefined) return { exitCode, Evaluation, Allocations };
  const Deployment = await monitorDeployment(context, started.ID, log, signal);
  return { exitCode: exitCodeOf(Deployment), Evaluation, Allocations, Deployment };
}

/** The deployment of just this version; one that was over before says nothing of this run. */
async function deploymentOf(
  { client }: Context,
  job: string,
  { JobModifyIndex, EvalCreateIndex }: Pick<JobRegistered, 'EvalCreateIndex' | 'JobModifyIndex'>,
) {
  const { value: all } = await client.jobs.deployments(job);
  return all.find(
    (one) =>
      one.JobSpecModifyIndex === JobModifyIndex &&
      (one.CreateIndex >= EvalCreateIndex || !isTerminalDeployment(one)),
  );
}

function guardOf(text: string | undefined): Partial<JobRegistration> {
  if (text === undefined) return {};
  if (!/^\d{1,15}$/.test(text)) {
    throw new CliError(`--check-index must be an integer from 0, got "${text}".`, {
      hint: '"roster job inspect JOB" shows the JobModifyIndex of a job.',
    });
  }
  return { EnforceIndex: true, JobModifyIndex: Number(text) };
}

const planOf = (id: string | undefined): Partial<JobRegistration> =>
  id === undefined ? {} : { PlanID: id };

async function register(
  { client }: Context,
  { registration, explain }: ReadJob,
  guard: Partial<JobRegistration>,
  file: string,
) {
  try {
    return await client.jobs.register({ ...registration, ...guard });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'body-too-large') throw explain(error);
    const sentence = `${file === '-' ? 'The job' : `"${file}"`} is too large: ${error.detail}`;
    throw new CliError(sentence, { hint: 'Large files belong into artifacts, not into the job.' });
  }
}

async function done(context: Context, registered: JobRegistered): Promise<number> {
  if (context.isJson) {
    await context.json(registered);
  } else {
    const id = context.id(registered.EvalID);
    await context.screen.line(`Job registered (JobModifyIndex ${registered.JobModifyIndex}).`);
    await context.screen.line(`Evaluation ${id} is under way: see "roster eval status ${id}".`);
  }
  return exitCodes.ok;
}

/** A pattern does not run itself: what makes jobs of it, and when. */
async function tellPattern(
  context: Context,
  { registration }: ReadJob,
  registered: JobRegistered,
): Promise<number> {
  if (context.isJson) {
    await context.json(registered);
    return exitCodes.ok;
  }
  const { screen, client, nowMs } = context;
  await screen.line(`Job registered (JobModifyIndex ${registered.JobModifyIndex}).`);
  const { id = '', namespace } = nameIn(registration.Job);
  const read = await client.jobs.read(id, { namespace }).catch((error: unknown) => {
    // Who may register a job may not be allowed to read it.
    if (error instanceof ApiError) return undefined;
    throw error;
  });
  const lines = read ? patternLines(read.value, nowMs) : ['It waits until it is launched.'];
  for (const line of lines) await screen.line(line);
  return exitCodes.ok;
}
