import type { JobScaled } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, detach, verbose } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { withJob } from '../nouns.ts';
import { makePlan, planOption } from '../plan/make.ts';
import { oneLine, quoted } from '../render/text.ts';
import { warningsIn } from '../render/warnings.ts';
import { jobArgument } from './argument.ts';
import { checkIndex, givenGuards, policyOverride, watchRun } from './run.ts';

export const jobScale: ClientCommand = {
  words: ['job', 'scale'],
  summary: 'Change the count of a group.',
  definition: {
    arguments: [
      jobArgument,
      {
        name: 'GROUP',
        kind: 'group',
        isRequired: true,
        description: 'Name of the group; optional if the job has only one.',
      },
      { name: 'COUNT', kind: 'word', isRequired: false, description: 'The new count.' },
    ],
    usage: '<JOB> [GROUP] <COUNT>',
    options: [
      checkIndex,
      detach,
      {
        name: 'message',
        value: 'TEXT',
        description: 'The reason, which is stored with the event.',
      },
      planOption,
      policyOverride,
      verbose,
    ],
    details: `Watches like "roster job run", with the same exit codes. A job cannot be scaled during a
deployment.

Examples:
  roster job scale web 5
  roster job scale -message "sale" shop frontend 12
  roster job scale -plan web 5`,
  },
  async run(context, [job, ...rest], options) {
    const given = givenGuards(options);
    const Count = countOf(rest.at(-1)!);
    const Group = rest.length > 1 ? rest[0]! : await onlyGroup(context, job!);
    const Message = options.text('message') || 'Scaled with "roster job scale"';
    if (options.flag('plan')) {
      const PolicyOverride = options.flag('policyOverride');
      const act = { Kind: 'scale', JobID: job!, Group, Count, Message, PolicyOverride };
      return withJob(context, job!, () => makePlan(context, act));
    }
    const { value: scaled } = await withJob(context, job!, () =>
      context.client.jobs.scale(job!, { Count, Target: { Group }, Message, ...given }),
    );
    const log = context.isJson ? context.notes : context.screen;
    for (const warning of warningsIn(scaled.Warnings)) await log.line(`Warning: ${warning}`);
    const isDetached = options.flag('detach');
    const sentence = `Group "${oneLine(Group)}" is to have ${Count} (JobModifyIndex ${scaled.JobModifyIndex}).`;
    if (!isDetached || !context.isJson) await log.line(sentence);
    return isDetached ? done(context, scaled) : watch(context, scaled);
  },
};

function countOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CliError(`COUNT must be a whole number from 0, got "${text}".`);
}

async function onlyGroup(context: Context, job: string): Promise<string> {
  const { value } = await withJob(context, job, () => context.client.jobs.read(job));
  const names = value.TaskGroups.map(({ Name }) => Name);
  if (names.length === 1) return names[0]!;
  const all = names.map((name) => `"${oneLine(name)}"`).join(', ');
  throw new CliError(`The job "${oneLine(job)}" has several groups: name one of ${all}.`, {
    hint: `roster job scale ${quoted(job)} GROUP COUNT`,
  });
}

async function watch(context: Context, scaled: JobScaled): Promise<number> {
  const { EvalID, EvalCreateIndex } = scaled;
  if (EvalID === undefined || EvalCreateIndex === undefined) return done(context, scaled);
  const log = context.isJson ? context.notes : context.screen;
  const watched = { ...scaled, EvalID, EvalCreateIndex };
  try {
    const { exitCode, ...outcome } = await context.untilInterrupted((signal) =>
      watchRun(context, watched, log, signal),
    );
    if (context.isJson) await context.json({ ...scaled, ...outcome });
    return exitCode;
  } catch (error) {
    await context.notes.line('No longer watching; the job stays scaled.');
    throw error;
  }
}

async function done({ isJson, json, screen, id }: Context, scaled: JobScaled): Promise<number> {
  if (isJson) await json(scaled);
  else if (scaled.EvalID === undefined) await screen.line('It holds from the next launch on.');
  else {
    const evaluation = id(scaled.EvalID);
    await screen.line(
      `Evaluation ${evaluation} is under way: see "roster eval status ${evaluation}".`,
    );
  }
  return exitCodes.ok;
}
