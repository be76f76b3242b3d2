import { type ClientCommand, detach, verbose } from '../definition.ts';
import { withJob } from '../nouns.ts';
import { oneLine } from '../render/text.ts';
import { jobArgument } from './argument.ts';
import { follow } from './follow.ts';

export const jobEval: ClientCommand = {
  words: ['job', 'eval'],
  summary: 'Make an evaluation of a job.',
  definition: {
    arguments: [jobArgument],
    options: [
      {
        name: 'force-reschedule',
        description: 'Reschedule failed allocations now, regardless of limits and delays.',
      },
      detach,
      verbose,
    ],
  },
  async run(context, [job], options) {
    const forceReschedule = options.flag('forceReschedule');
    const { value } = await withJob(context, job!, () =>
      context.client.jobs.evaluate(job!, { forceReschedule }),
    );
    const sentence = `Evaluation ${context.id(value.EvalID)} of the job "${oneLine(job!)}" is under way.`;
    return follow(context, value, { sentence, isDetached: options.flag('detach') });
  },
};
