import type { JobInput } from '../../model/job/job.ts';
import { anyOf, namedAccess, type Permission } from '../../model/permission/permission.ts';

/**
 * What a job needs for the directories of nodes that its groups ask for, one by one: who may write
 * to one may read it. Source: docs/behaviour/job-specification.md#volumes.
 */
export function volumePermissions(job: JobInput | null | undefined): readonly Permission[] {
  // By name: whether something is to be written there.
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
