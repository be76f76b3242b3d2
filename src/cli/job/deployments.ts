import { type ClientCommand, filterOption, verbose } from '../definition.ts';
import { printDeployment, printDeployments } from '../deployment/render.ts';
import { exitCodes } from '../errors.ts';
import { withJob } from '../nouns.ts';
import { oneLine } from '../render/text.ts';
import { jobArgument } from './argument.ts';

export const jobDeployments: ClientCommand = {
  words: ['job', 'deployments'],
  summary: 'List the deployments of a job.',
  definition: {
    isPaged: true,
    arguments: [jobArgument],
    options: [
      { name: 'latest', description: 'Show the latest deployment with its groups.' },
      { name: 'all', description: 'Include deployments of earlier jobs with the same id.' },
      filterOption,
      verbose,
    ],
  },
  async run(context, [job], options) {
    const { client, screen } = context;
    const none = `The job "${oneLine(job!)}" has no deployments.`;
    if (options.flag('latest')) {
      const { value } = await withJob(context, job!, () => client.jobs.deployment(job!));
      if (context.isJson) await context.json(value);
      else if (value === null) await screen.line(none);
      else await printDeployment(context, value);
      return exitCodes.ok;
    }
    const given = { all: options.flag('all'), filter: options.text('filter') };
    const { value } = await withJob(context, job!, () => client.jobs.deployments(job!, given));
    if (context.isJson) await context.json(value);
    else if (value.length === 0) await screen.line(none);
    else await printDeployments(context, value);
    return exitCodes.ok;
  },
};
