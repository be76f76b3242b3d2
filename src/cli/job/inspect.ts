import type { Job } from '../../model/job/job.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { withJob } from '../nouns.ts';
import { jobArgument } from './argument.ts';
import { findVersion } from './version.ts';

export const jobInspect: ClientCommand = {
  words: ['job', 'inspect'],
  summary: 'Print the job as it is registered, as JSON.',
  definition: {
    isPaged: true,
    arguments: [jobArgument],
    options: [
      {
        name: 'version',
        value: 'N|TAG',
        description: 'An earlier version, by its number or its tag.',
      },
      {
        name: 'source',
        description: 'Print the submitted file of the version.',
      },
    ],
    details: `Prints a job file for "roster job run". With -source -json the output has the values of the
variables, too.

Examples:
  roster job inspect -version 3 web
  roster job inspect -version golden -source web > web.hcl`,
  },
  async run(context, [job], options) {
    const given = options.text('version');
    const value =
      given === undefined
        ? (await withJob(context, job!, () => context.client.jobs.read(job!))).value
        : await findVersion(context, job!, given);
    if (options.flag('source')) await printSource(context, value);
    else await context.json({ Job: value });
    return exitCodes.ok;
  },
};

/** Prints the source unchanged, so that redirecting it restores the submitted file. */
async function printSource(context: Context, { ID, Version }: Job): Promise<void> {
  const { value } = await context.client.jobs.submission(ID, Version);
  if (context.isJson) await context.json(value);
  else await context.environment.stdout.write(value.Source);
}
