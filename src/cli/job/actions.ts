import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { withJob } from '../nouns.ts';
import { oneLine, quoted } from '../render/text.ts';
import { jobArgument } from './argument.ts';

export const jobActions: ClientCommand = {
  words: ['job', 'actions'],
  summary: 'List the actions of the tasks of a job.',
  definition: {
    arguments: [jobArgument],
  },
  async run(context, [job]) {
    const { client, screen, isJson, json } = context;
    const { value } = await withJob(context, job!, () => client.jobs.actions(job!));
    if (isJson) await json(value);
    else if (value.length === 0) {
      await screen.line(`The tasks of the job "${oneLine(job!)}" have no actions.`);
    } else {
      await screen.table(
        ['Action', 'Group', 'Task', 'Command'],
        value.map(({ Name, TaskGroupName, TaskName, Command, Args }) => [
          oneLine(Name),
          oneLine(TaskGroupName),
          oneLine(TaskName),
          [Command, ...Args].map(quoted).join(' '),
        ]),
      );
    }
    return exitCodes.ok;
  },
};
