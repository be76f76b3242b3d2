import { type ClientCommand, detach, verbose } from '../definition.ts';
import { withJob } from '../nouns.ts';
import { makePlan, planOption } from '../plan/make.ts';
import { oneLine } from '../render/text.ts';
import { wholeNumber } from '../whole-number.ts';
import { jobArgument } from './argument.ts';
import { follow } from './follow.ts';
import { policyOverride } from './run.ts';
import { versionNumber } from './version.ts';

export const jobRevert: ClientCommand = {
  words: ['job', 'revert'],
  summary: 'Revert a job to an earlier version.',
  definition: {
    arguments: [
      jobArgument,
      {
        name: 'VERSION',
        kind: 'version',
        isRequired: true,
        description: 'Number of the version, or its tag.',
      },
    ],
    options: [
      {
        name: 'check-version',
        value: 'N',
        description: 'Only if the job is still at version N.',
      },
      detach,
      planOption,
      policyOverride,
      verbose,
    ],
    details: `Registers the version again as a new version, with its source. A version that stopped the job
stops it again. Exit codes are those of "job run".

Examples:
  roster job revert web 3
  roster job revert web golden
  roster job revert -plan web golden`,
  },
  async run(context, [job, text], options) {
    const guard = options.text('checkVersion');
    const priorVersion = guard === undefined ? undefined : wholeNumber('--check-version', guard);
    const isOverridden = options.flag('policyOverride');
    const version = await versionNumber(context, job!, text!);
    if (options.flag('plan')) {
      const act = { JobID: job!, JobVersion: version, PolicyOverride: isOverridden };
      return withJob(context, job!, () => makePlan(context, { Kind: 'revert', ...act }));
    }
    const { value } = await withJob(context, job!, () =>
      context.client.jobs.revert(job!, version, { priorVersion, policyOverride: isOverridden }),
    );
    const sentence = `Job "${oneLine(job!)}" goes back to version ${version} (JobModifyIndex ${value.JobModifyIndex}).`;
    return follow(context, value, { sentence, isDetached: options.flag('detach') });
  },
};
