import { type ClientCommand, verbose } from '../definition.ts';
import { withJob } from '../nouns.ts';
import { jobArgument } from './argument.ts';
import { printAllocations } from './status.ts';

export const jobAllocs: ClientCommand = {
  words: ['job', 'allocs'],
  summary: 'List the allocations of a job.',
  definition: {
    arguments: [jobArgument],
    options: [
      { name: 'all', description: 'Include allocations of earlier jobs with the same id.' },
      verbose,
    ],
  },
  async run(context, [job], options) {
    const all = options.flag('all');
    const { value } = await withJob(context, job!, () =>
      context.client.jobs.allocations(job!, { all, resources: true }),
    );
    return context.show(value, () => printAllocations(context, value));
  },
};
