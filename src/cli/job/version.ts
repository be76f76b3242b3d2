import type { Job } from '../../model/job/job.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { withJob } from '../nouns.ts';
import { oneLine } from '../render/text.ts';

const number = /^\d{1,15}$/;

/** Matches a version by its number or its tag. Digits alone are a number. */
export const isVersion =
  (text: string) =>
  ({ Version, VersionTag }: Pick<Job, 'Version' | 'VersionTag'>): boolean =>
    number.test(text) ? Version === Number(text) : VersionTag?.Name === text;

/** The version with the number or the tag. @throws CliError if there is no such version */
export async function findVersion(context: Context, job: string, text: string): Promise<Job> {
  const { value } = await withJob(context, job, () => context.client.jobs.versions(job));
  const found = value.Versions.find(isVersion(text));
  if (found === undefined) throw noVersion(job, text);
  return found;
}

/** The number of a version. Only a tag needs a request. */
export const versionNumber = async (
  context: Context,
  job: string,
  text: string,
): Promise<number> =>
  number.test(text) ? Number(text) : (await findVersion(context, job, text)).Version;

export const noVersion = (job: string, text: string): CliError =>
  new CliError(
    number.test(text)
      ? `The job "${oneLine(job)}" has no version ${text} any more.`
      : `The job "${oneLine(job)}" has no version with the tag "${oneLine(text)}".`,
    { hint: `"roster job history ${oneLine(job)}" lists the kept versions with their tags.` },
  );
