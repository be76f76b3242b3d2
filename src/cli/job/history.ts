import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { Job } from '../../model/job/job.ts';
import type { JobDiff } from '../../model/job-diff/job-diff.ts';
import type { JobVersions } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { withJob } from '../nouns.ts';
import { printJobDiff } from '../render/job-diff.ts';
import { ago, oneLine } from '../render/text.ts';
import { jobArgument } from './argument.ts';
import { isVersion, noVersion } from './version.ts';

export const jobHistory: ClientCommand = {
  definition: {
    arguments: [jobArgument],
    options: [
      {
        name: 'diffs',
        letter: 'p',
        description: 'Show what is different from each version to the next.',
      },
      { name: 'version', value: 'N|TAG', description: 'Only this version.' },
      {
        name: 'diff-version',
        value: 'N',
        description: 'Show what is different from this version, and not from the one before.',
      },
      {
        name: 'diff-tag',
        value: 'NAME',
        description: 'The same for the version that has this tag.',
      },
      verbose,
    ],
    details: `The newest version comes first. "roster job inspect -version N -source JOB" prints the file that one
was made from.`,
  },
  async run(context, [job], options) {
    const only = options.text('version');
    const diffVersion = numberOf('diff-version', options.text('diffVersion'));
    const diffTag = options.text('diffTag');
    const diffs = options.flag('diffs') || diffVersion !== undefined || diffTag !== undefined;
    const { value } = await withJob(context, job!, () =>
      context.client.jobs.versions(job!, { diffs, diffVersion, diffTag }),
    );
    const entries = entriesOf(value).filter(
      ({ version }) => only === undefined || isVersion(only)(version),
    );
    if (entries.length === 0) throw noVersion(job!, only!);
    if (context.isJson) await context.json(inJson(entries, diffs));
    else await show(context, entries);
    return exitCodes.ok;
  },
};

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CliError(`--${name} must be an integer from 0, got "${text}".`);
}

interface Entry {
  readonly version: Job;
  /** The oldest version has none. */
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
