import type { VersionTagged } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { ArgumentDefinition, ClientCommand } from '../definition.ts';
import { withJob } from '../nouns.ts';
import { oneLine } from '../render/text.ts';
import { wholeNumber } from '../whole-number.ts';
import { jobArgument } from './argument.ts';

const nameArgument: ArgumentDefinition = {
  name: 'TAG',
  kind: 'word',
  isRequired: true,
  description: 'Name of the tag, unique among the versions of the job.',
};

export const jobTagApply: ClientCommand = {
  words: ['job', 'tag', 'apply'],
  summary: 'Tag a version of a job with a name.',
  definition: {
    arguments: [jobArgument, nameArgument],
    options: [
      {
        name: 'version',
        value: 'N',
        description: 'The version to tag; by default the current version.',
      },
      { name: 'description', value: 'TEXT', description: 'A note on the version.' },
    ],
    details: 'A version with a tag is kept as long as it has the tag, and so is its job.',
  },
  async run(context, [job, name], options) {
    const number = options.text('version');
    const description = options.text('description');
    const { value } = await withJob(context, job!, () =>
      context.client.jobs.tag(job!, name!, {
        ...(number !== undefined && { version: wholeNumber('--version', number) }),
        ...(description !== undefined && { description }),
      }),
    );
    return tell(context, value, `has the tag "${oneLine(name!)}"`, job!);
  },
};

export const jobTagUnset: ClientCommand = {
  words: ['job', 'tag', 'unset'],
  summary: 'Remove a tag from a version of a job.',
  definition: { arguments: [jobArgument, nameArgument] },
  async run(context, [job, name]) {
    const { value } = await withJob(context, job!, () => context.client.jobs.untag(job!, name!));
    return tell(context, value, `has no longer the tag "${oneLine(name!)}"`, job!);
  },
};

async function tell(context: Context, tagged: VersionTagged, what: string, job: string) {
  return context.show(tagged, () =>
    context.screen.line(`Version ${tagged.Version} of the job "${oneLine(job)}" ${what}.`),
  );
}
