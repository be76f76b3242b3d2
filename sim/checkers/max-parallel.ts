import type { Allocation } from '../../src/model/allocation/allocation.ts';
import { allocations, inNamespace, jobVersions, numberPart } from '../../src/state/tables.ts';
import type { Checker, Scene } from './checker.ts';

/**
 * In a rolling update no more than `MaxParallel` of a group are being replaced at a time: have a
 * replacement that is not known to be healthy.
 */
export const atMostMaxParallelUnhealthy = (): Checker => ({
  guarantee: 'at most MaxParallel unhealthy',
  committed(changes, _index, scene, fault) {
    const touched = new Map<string, Allocation>();
    for (const { table, after } of changes) {
      const one = after as Allocation | undefined;
      if (table === allocations.name && one !== undefined && one.DeploymentID !== '') {
        touched.set(`${one.DeploymentID} ${one.TaskGroup}`, one);
      }
    }
    for (const one of touched.values()) {
      const limit = maxParallel(one, scene);
      if (limit === undefined) continue;
      const underWay = replacing(one, scene);
      if (underWay.length <= limit) continue;
      const names = underWay.map(({ Name }) => Name).join(', ');
      fault(`${underWay.length} are replaced at a time, MaxParallel is ${limit}: ${names}`);
    }
  },
});

function maxParallel({ Namespace, JobID, JobVersion, TaskGroup }: Allocation, { view }: Scene) {
  const job = view.table(jobVersions).get(...inNamespace(Namespace, JobID, numberPart(JobVersion)));
  if (job?.Type !== 'service') return undefined;
  return job.TaskGroups.find(({ Name }) => Name === TaskGroup)?.Update?.MaxParallel;
}

function replacing(sample: Allocation, { view }: Scene): Allocation[] {
  const table = view.table(allocations);
  const range = { prefix: inNamespace(sample.Namespace, sample.JobID) };
  return [...table.by('job').scan(range)].filter((one) => {
    if (one.DeploymentID !== sample.DeploymentID || one.TaskGroup !== sample.TaskGroup)
      return false;
    if (one.DesiredStatus !== 'run' || one.DeploymentStatus?.Healthy === true) return false;
    if (['complete', 'failed', 'lost'].includes(one.ClientStatus)) return false;
    // One that goes on where it is was not replaced by this deployment.
    if (one.DesiredDescription.includes('in-place')) return false;
    const previous = table.get(...inNamespace(one.Namespace, one.PreviousAllocation));
    return (
      previous?.DesiredDescription.includes('being updated') &&
      previous.JobVersion !== one.JobVersion
    );
  });
}
