import type { ClientCommand } from '../definition.ts';
import { printRecords } from '../list-command.ts';
import { withJob } from '../nouns.ts';
import { oneLine, quoted } from '../render/text.ts';
import { jobArgument } from './argument.ts';

export const jobActions: ClientCommand = {
  words: ['job', 'actions'],
  summary: 'List the actions of the tasks of a job.',
  definition: {
    isPaged: true,
    arguments: [jobArgument],
  },
  async run(context, [job]) {
    const { value } = await withJob(context, job!, () => context.client.jobs.actions(job!));
    return printRecords(context, value, {
      records: value,
      empty: `The tasks of the job "${oneLine(job!)}" have no actions.`,
      columns: {
        Action: ({ Name }) => oneLine(Name),
        Group: ({ TaskGroupName }) => oneLine(TaskGroupName),
        Task: ({ TaskName }) => oneLine(TaskName),
        Command: ({ Command, Args }) => [Command, ...Args].map(quoted).join(' '),
      },
    });
  },
};
