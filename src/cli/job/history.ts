import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { Job } from '../../model/job/job.ts';
import type { JobDiff } from '../../model/job-diff/job-diff.ts';
import type { JobVersions } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { withJob } from '../nouns.ts';
import { printJobDiff } from '../render/job-diff.ts';
import { ago, oneLine } from '../render/text.ts';
import { wholeNumberOption } from '../whole-number.ts';
import { jobArgument } from './argument.ts';
import { isVersion, noVersion } from './version.ts';

export const jobHistory: ClientCommand = {
  words: ['job', 'history'],
  summary: 'Show the versions of a job, with their differences.',
  definition: {
    isPaged: true,
    arguments: [jobArgument],
    options: [
      {
        name: 'diffs',
        letter: 'p',
        description: 'Show the difference from each version to the next.',
      },
      { name: 'version', value: 'N|TAG', description: 'Only this version.' },
      {
        name: 'diff-version',
        value: 'N',
        description: 'Show the difference from this version, instead of the previous one.',
      },
      {
        name: 'diff-tag',
        value: 'NAME',
        description: 'Show the difference from the version with this tag.',
      },
      verbose,
    ],
    details: `The newest version comes first. "roster job inspect -version N -source JOB" prints the file of a
version.`,
  },
  async run(context, [job], options) {
    const only = options.text('version');
    const diffVersion = wholeNumberOption(options, 'diff-version');
    const diffTag = options.text('diffTag');
    const diffs = options.flag('diffs') || diffVersion !== undefined || diffTag !== undefined;
    const { value } = await withJob(context, job!, () =>
      context.client.jobs.versions(job!, { diffs, diffVersion, diffTag }),
    );
    const entries = entriesOf(value).filter(
      ({ version }) => only === undefined || isVersion(only)(version),
    );
    if (entries.length === 0) throw noVersion(job!, only!);
    return context.show(inJson(entries, diffs), () => show(context, entries));
  },
};

interface Entry {
  readonly version: Job;
  /** Absent for the oldest version. */
  readonly diff: JobDiff | undefined;
}

const entriesOf = ({ Versions, Diffs }: JobVersions): Entry[] =>
  Versions.map((version, position) => ({ version, diff: Diffs?.[position] }));

const inJson = (entries: readonly Entry[], diffs: boolean): object => ({
  Versions: entries.map(({ version }) => version),
  Diffs: diffs ? entries.flatMap(({ diff }) => diff ?? []) : null,
});

async function show(context: Context, entries: readonly Entry[]): Promise<void> {
  const { screen, nowMs, isVerbose } = context;
  for (const [position, { version, diff }] of entries.entries()) {
    if (position > 0) await screen.line();
    const { Version, Stable, SubmitTime, VersionTag, Stop } = version;
    await screen.fields([
      ['Version', String(Version)],
      ['Stable', String(Stable)],
      ['Stopped', String(Stop)],
      ['Submitted', ago(SubmitTime, nowMs)],
      ...tagRows(VersionTag, nowMs),
    ]);
    if (diff === undefined) continue;
    await screen.line();
    await printJobDiff(screen, diff, { isVerbose });
  }
}

const tagRows = (tag: Job['VersionTag'], nowMs: number): [string, string][] =>
  tag === null
    ? []
    : [
        ['Tag', oneLine(tag.Name)],
        ['Tagged', `${formatInstant(instantToMs(tag.TaggedTime))} (${ago(tag.TaggedTime, nowMs)})`],
        ...(tag.Description === ''
          ? []
          : [['Description', oneLine(tag.Description)] as [string, string]]),
      ];
