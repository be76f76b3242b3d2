import { type ClientCommand, detach, verbose } from '../definition.ts';
import { CliError } from '../errors.ts';
import { withJob } from '../nouns.ts';
import { oneLine } from '../render/text.ts';
import { jobArgument } from './argument.ts';
import { follow } from './follow.ts';

export const jobStart: ClientCommand = {
  words: ['job', 'start'],
  summary: 'Start a stopped job.',
  definition: {
    arguments: [jobArgument],
    options: [detach, verbose],
    details: 'A stopped job starts again unchanged. Exit codes are those of "job run".',
  },
  async run(context, [job], options) {
    const { client } = context;
    const { value: stopped } = await withJob(context, job!, () => client.jobs.read(job!));
    if (!stopped.Stop) {
      throw new CliError(`The job "${oneLine(job!)}" is not stopped.`, {
        hint: `"roster job eval" lets the scheduler look at it, "roster job restart" restarts its tasks.`,
      });
    }
    const { value } = await client.jobs.update(job!, {
      Job: { ...stopped, Stop: false },
      // The guard keeps a concurrent change of the job from being lost.
      EnforceIndex: true,
      JobModifyIndex: stopped.JobModifyIndex,
    });
    const sentence = `Job "${oneLine(job!)}" starts again (JobModifyIndex ${value.JobModifyIndex}).`;
    return follow(context, value, { sentence, isDetached: options.flag('detach') });
  },
};
