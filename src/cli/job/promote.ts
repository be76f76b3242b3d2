import type { ClientCommand } from '../definition.ts';
import { promote, promoteDetails, promoteOptions } from '../deployment/promote.ts';
import { CliError } from '../errors.ts';
import { withJob } from '../nouns.ts';
import { oneLine } from '../render/text.ts';
import { jobArgument } from './argument.ts';

export const jobPromote: ClientCommand = {
  words: ['job', 'promote'],
  summary: "Promote the canaries of a job's latest deployment.",
  definition: {
    arguments: [jobArgument],
    options: promoteOptions,
    details: promoteDetails,
  },
  async run(context, [job], options) {
    const { value: latest } = await withJob(context, job!, () =>
      context.client.jobs.deployment(job!),
    );
    if (latest !== null) return promote(context, latest.ID, options);
    throw new CliError(`The job "${oneLine(job!)}" has no deployment.`, {
      hint: 'Only service and system jobs with an update strategy have them.',
    });
  },
};
