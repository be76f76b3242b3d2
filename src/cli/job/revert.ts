import { type ClientCommand, detach, verbose } from '../definition.ts';
import { withJob } from '../nouns.ts';
import { oneLine } from '../render/text.ts';
import { jobArgument, wholeNumber } from './argument.ts';
import { follow } from './follow.ts';

export const jobRevert: ClientCommand = {
  definition: {
    arguments: [
      jobArgument,
      { name: 'VERSION', kind: 'word', isRequired: true, description: 'Number of the version.' },
    ],
    options: [
      {
        name: 'check-version',
        value: 'N',
        description: 'Only if the job is still at version N.',
      },
      detach,
      verbose,
    ],
    details: `The version comes back as a new one, with the source that it was made from. A version that was a
stop stops the job. Exit codes are those of "job run".

Example:
  roster job revert web 3`,
  },
  async run(context, [job, text], options) {
    const version = wholeNumber('VERSION', text!);
    const guard = options.text('checkVersion');
    const priorVersion = guard === undefined ? undefined : wholeNumber('--check-version', guard);
    const { value } = await withJob(context, job!, () =>
      context.client.jobs.revert(job!, version, { priorVersion }),
    );
    const sentence = `Job "${oneLine(job!)}" goes back to version ${version} (JobModifyIndex ${value.JobModifyIndex}).`;
    return follow(context, value, { sentence, isDetached: options.flag('detach') });
  },
};
