/** The permissions of job endpoints. */
import type { JobInput } from '../model/job/job.ts';
import {
  allOf,
  anyOf,
  namedAccess,
  namespaceCapability,
  type Permission,
} from '../model/permission/permission.ts';
import { type Asked, capability, decided } from './needs.ts';

export const readJob = capability('read-job');

/** `submit-job`, or one of the capabilities that it includes, in a given namespace. */
export const maySubmitOr = (namespace: string, ...parts: readonly string[]): Permission =>
  anyOf(...['submit-job', ...parts].map((part) => namespaceCapability(namespace, part)));

export interface Submission {
  readonly PolicyOverride?: boolean | null | undefined;
  readonly Job?: JobInput | null | undefined;
}

/** `submitOr`, and further permissions for parts of the body. */
export const submitBodyOr = (part: string) =>
  decided(
    `\`namespace:submit-job\` or \`namespace:${part}\`; with \`PolicyOverride\` also \`namespace:policy-override\`, for volumes of nodes also \`host_volume:mount-readonly\` or \`host_volume:mount-readwrite\``,
    ({ namespace, body }: Asked<unknown, Submission>) =>
      withMore(
        maySubmitOr(namespace, part),
        ...(body.PolicyOverride ? [namespaceCapability(namespace, 'policy-override')] : []),
        ...volumePermissions(body.Job),
      ),
  );

/** As `submitBodyOr`, for bodies without a job. */
export const submitOverrideOr = (part: string) =>
  decided(
    `\`namespace:submit-job\` or \`namespace:${part}\`; with \`PolicyOverride\` also \`namespace:policy-override\``,
    ({ namespace, body }: Asked<unknown, Pick<Submission, 'PolicyOverride'>>) =>
      withMore(
        maySubmitOr(namespace, part),
        ...(body.PolicyOverride ? [namespaceCapability(namespace, 'policy-override')] : []),
      ),
  );

export const mayStop = decided(
  '`namespace:submit-job`, `namespace:purge-job` or, without `purge`, `namespace:deregister-job`',
  ({ namespace, query }: Asked<{ readonly purge: boolean }>) =>
    maySubmitOr(namespace, 'purge-job', ...(query.purge ? [] : ['deregister-job'])),
);

/** The permission to register the job. */
export const registers = (namespace: string, { PolicyOverride, Job }: Submission): Permission =>
  withMore(
    maySubmitOr(namespace, 'register-job'),
    ...(PolicyOverride ? [namespaceCapability(namespace, 'policy-override')] : []),
    ...volumePermissions(Job),
  );

/** The permission for another act on a job, or for its plan. */
export const submitsOr = (
  namespace: string,
  { PolicyOverride }: Pick<Submission, 'PolicyOverride'>,
  ...parts: readonly string[]
): Permission =>
  withMore(
    maySubmitOr(namespace, ...parts),
    ...(PolicyOverride ? [namespaceCapability(namespace, 'policy-override')] : []),
  );

const withMore = (first: Permission, ...more: readonly Permission[]): Permission =>
  more.length === 0 ? first : allOf(first, ...more);

/**
 * The permissions for host volumes in a job's groups, one per volume. Permission to write includes
 * permission to read. Source: docs/behaviour/job-specification.md#volumes.
 */
function volumePermissions(job: JobInput | null | undefined): readonly Permission[] {
  // Whether a group writes to the volume, by name.
  const asked = new Map<string, boolean>();
  for (const group of job?.TaskGroups ?? []) {
    for (const volume of Object.values(group?.Volumes ?? {})) {
      if (volume?.Type !== 'host' || !volume.Source) continue;
      const writes = volume.ReadOnly !== true || asked.get(volume.Source) === true;
      asked.set(volume.Source, writes);
    }
  }
  return [...asked].map(([name, writes]) => {
    const write = namedAccess('host_volume', 'mount-readwrite', name);
    return writes ? write : anyOf(namedAccess('host_volume', 'mount-readonly', name), write);
  });
}
