import { type ClientCommand, filterOption, verbose } from '../definition.ts';
import { withJob } from '../nouns.ts';
import { jobArgument } from './argument.ts';
import { printAllocations } from './status.ts';

export const jobAllocs: ClientCommand = {
  words: ['job', 'allocs'],
  summary: 'List the allocations of a job.',
  definition: {
    isPaged: true,
    arguments: [jobArgument],
    options: [
      { name: 'all', description: 'Include allocations of earlier jobs with the same id.' },
      filterOption,
      verbose,
    ],
  },
  async run(context, [job], options) {
    const [all, filter] = [options.flag('all'), options.text('filter')];
    const { value } = await withJob(context, job!, () =>
      context.client.jobs.allocations(job!, { all, filter, resources: true }),
    );
    return context.show(value, () => printAllocations(context, value));
  },
};
