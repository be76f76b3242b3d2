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
  description: 'Carry out the plan with this id of "roster job plan" exactly, or do nothing.',
};

export const policyOverride: OptionDefinition = {
  name: 'policy-override',
  description: 'Override soft-mandatory job policies; needs namespace:policy-override.',
};

export const preserveCounts: OptionDefinition = {
  name: 'preserve-counts',
  description: 'Keep the counts of the registered job.',
};

export const preserveResources: OptionDefinition = {
  name: 'preserve-resources',
  description: 'Keep the resources of the tasks of the registered job.',
};

/** Both options as fields of the body. */
export const givenGuards = (options: Options) => ({
  ...guardOf(options.text('checkIndex')),
  ...(options.flag('policyOverride') && { PolicyOverride: true }),
});

const output: OptionDefinition = {
  name: 'output',
  description: 'Print the request in JSON that would be sent, and register nothing.',
};

export const jobRun: ClientCommand = {
  words: ['job', 'run'],
  summary: 'Register or update a job and watch it start.',
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
      output,
      policyOverride,
      preserveCounts,
      preserveResources,
      verbose,
    ],
    details: `Watches until everything runs, or until the deployment has ended.
Exit codes: 0 everything runs, 1 an error, 2 not everything could be placed, started or deployed.

Examples:
  roster job run web.hcl
  roster job run -var greeting=Moin variables.hcl
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
    if (options.flag('output')) {
      await context.json({ ...read.registration, ...guards });
      return exitCodes.ok;
    }
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

/** Watches until everything has started and the deployment, if any, has ended. */
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

/** The deployment of this version, unless it had ended before this run. */
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

/** Prints how and when a periodic or parameterized job launches children. */
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
    // The token may lack the right to read the job.
    if (error instanceof ApiError) return undefined;
    throw error;
  });
  const lines = read ? patternLines(read.value, nowMs) : ['It waits until it is launched.'];
  for (const line of lines) await screen.line(line);
  return exitCodes.ok;
}
