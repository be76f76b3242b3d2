import {
  jobVersionsEndpoints as contract,
  type versionsQuery,
} from '../../contract/job-version.ts';
import { refusal } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { compareJobs } from '../../model/job-diff/compare-jobs.ts';
import type { JobDiff } from '../../model/job-diff/job-diff.ts';
import { inNamespace, jobVersions } from '../../state/tables.ts';
import type { Input, Route } from '../route.ts';
import { serveRead } from '../serve.ts';

type Asked = Input<typeof versionsQuery>;

/** Source: docs/contract/jobs.md#versions-and-sources, docs/behaviour/jobs.md#answers-of-writes. */
export const jobVersionsRoutes = (): Route[] => [
  ...serveRead(contract.versions, (input) => {
    const job = input.parameters.job_id!;
    const prefix = inNamespace(input.namespace, job);
    const table = input.snapshot.table(jobVersions);
    const Versions = [...table.scan({ prefix, reverse: true })];
    if (Versions.length === 0) {
      throw refusal('job-not-found', { job, namespace: input.namespace });
    }
    return {
      Versions,
      Diffs: input.query.diffs ? diffsOf(input, Versions) : null,
      Index: table.lastIndex({ prefix }),
      ...input.contact(),
    };
  }),
];

function diffsOf(input: Asked, versions: readonly Job[]): readonly JobDiff[] {
  const base = baseOf(input, versions);
  if (base !== undefined) return versions.map((version) => compareJobs(base, version));
  return versions
    .slice(0, -1)
    .map((version, position) => compareJobs(versions[position + 1], version));
}

/** The version to compare all others with, if the query names one. */
function baseOf({ query, parameters }: Asked, versions: readonly Job[]): Job | undefined {
  const { diff_version: number, diff_tag: tag } = query;
  if (number === undefined && tag === '') return undefined;
  if (number !== undefined && tag !== '') {
    const reason = 'is not possible together with diff_version';
    throw refusal('invalid-query', { parameter: 'diff_tag', reason });
  }
  const base = versions.find(({ Version, VersionTag }) =>
    number === undefined ? VersionTag?.Name === tag : Version === number,
  );
  if (base !== undefined) return base;
  const version = number ?? `with the tag "${tag}"`;
  throw refusal('job-version-not-found', { job: parameters.job_id!, version });
}
