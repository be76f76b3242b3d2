import { instantFromMs } from '../../base/instant.ts';
import { refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { limits } from '../../model/limits.ts';
import { inNamespace, jobVersions } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import { requireRoom } from '../checks.ts';
import type { ServerContext } from '../context.ts';
import { changeJob } from '../scheduling/job-status.ts';
import { storedJob, storedVersion } from './find.ts';

export type VersionTag = NonNullable<Job['VersionTag']>;

export interface Tagging {
  readonly namespace: string;
  readonly jobId: string;
  readonly name: string;
  readonly description: string;
  /** `undefined`: the current version. */
  readonly version: number | undefined;
}

export interface Tagged extends VersionTag {
  readonly Version: number;
  readonly Index: number;
}

/**
 * Tags a version, which is kept as long as it has the tag. A version has one tag; a new one
 * replaces it. Source: docs/behaviour/jobs.md#versions-that-are-kept, #tags.
 * @throws RosterError `job-not-found`, `job-version-not-found`, `name-taken`, `limit-reached`
 */
export async function tagVersion(
  { state, world }: ServerContext,
  { namespace, jobId, name, description, version }: Tagging,
): Promise<Tagged> {
  const { index, value } = await state.write((transaction) => {
    const job = storedJob(transaction, namespace, jobId);
    const row = storedVersion(transaction, job, version ?? job.Version);
    const tagged = taggedVersions(transaction, job);
    const holder = tagged.find(({ VersionTag }) => VersionTag.Name === name);
    if (holder !== undefined && holder.Version !== row.Version) {
      throw refusal('name-taken', { name, noun: 'version of the job' });
    }
    if (row.VersionTag === null) {
      requireRoom('tagged version', tagged.length, limits.job.tagsMax);
    }
    const TaggedTime = instantFromMs(world.clock.nowMs());
    const tag = { Name: name, Description: description, TaggedTime };
    writeTag(transaction, job, row, tag);
    return { ...tag, Version: row.Version };
  });
  return { ...value, Index: index };
}

/**
 * Removes a tag; from then on the version is kept like any other.
 * @throws RosterError `job-not-found`, `version-tag-not-found`
 */
export async function untagVersion(
  { state }: ServerContext,
  { namespace, jobId, name }: Pick<Tagging, 'namespace' | 'jobId' | 'name'>,
): Promise<Tagged> {
  const { index, value } = await state.write((transaction) => {
    const job = storedJob(transaction, namespace, jobId);
    const holder = taggedVersions(transaction, job).find(
      ({ VersionTag }) => VersionTag.Name === name,
    );
    if (holder === undefined) throw refusal('version-tag-not-found', { job: jobId, tag: name });
    writeTag(transaction, job, holder, null);
    return { ...holder.VersionTag, Version: holder.Version };
  });
  return { ...value, Index: index };
}

type TaggedJob = Job & { readonly VersionTag: VersionTag };

function taggedVersions(transaction: Transaction, { Namespace, ID }: Job): TaggedJob[] {
  const range = { prefix: inNamespace(Namespace, ID) };
  const all = [...transaction.table(jobVersions).scan(range)];
  return all.filter((version): version is TaggedJob => version.VersionTag !== null);
}

function writeTag(
  transaction: Transaction,
  job: Job,
  version: Job,
  VersionTag: VersionTag | null,
): void {
  if (version.Version === job.Version) changeJob(transaction, { ...job, VersionTag });
  else transaction.table(jobVersions).put({ ...version, VersionTag });
}
