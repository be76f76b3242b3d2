import { type ClientCommand, detach, verbose } from '../definition.ts';
import { withJob } from '../nouns.ts';
import { oneLine } from '../render/text.ts';
import { watchLaunch } from './launched.ts';

export const jobPeriodicForce: ClientCommand = {
  words: ['job', 'periodic', 'force'],
  summary: 'Launch a periodic job now and watch it start.',
  definition: {
    arguments: [
      { name: 'JOB', kind: 'job', isRequired: true, description: 'Id of a periodic job.' },
    ],
    options: [detach, verbose],
    details: `Launches the job even if ProhibitOverlap is set and an earlier launch still runs. The schedule
stays unchanged. Exit codes: 0 everything runs, 1 an error, 2 not everything could be placed or
started.`,
  },
  async run(context, [job], options) {
    const { value: forced } = await withJob(context, job!, () =>
      context.client.jobs.forcePeriodic(job!),
    );
    const log = context.isJson ? context.notes : context.screen;
    await log.line(`Job "${oneLine(job!)}" is launched.`);
    return watchLaunch(context, forced, options.flag('detach'));
  },
};
