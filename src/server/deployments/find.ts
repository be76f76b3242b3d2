import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import type { Job } from '../../model/job/job.ts';
import { allocations, deployments, inNamespace, jobs } from '../../state/tables.ts';
import type { Snapshot, Transaction } from '../../state/types.ts';
import { rowWithId } from '../checks.ts';

type Reader = Snapshot | Transaction;

export const findDeployment = (state: Reader, id: string): Deployment | undefined =>
  rowWithId(state.table(deployments), id);

/** The job of the deployment. `undefined`: it is gone, or was registered anew after a purge. */
export function jobOfDeployment(
  state: Reader,
  { Namespace, JobID, JobCreateIndex }: Deployment,
): Job | undefined {
  const job = state.table(jobs).get(...inNamespace(Namespace, JobID));
  return job?.CreateIndex === JobCreateIndex ? job : undefined;
}

export function* allocationsOfDeployment(
  state: Reader,
  { ID, Namespace, JobID }: Deployment,
): IterableIterator<Allocation> {
  const ofJob = state.table(allocations).by('job');
  for (const allocation of ofJob.scan({ prefix: inNamespace(Namespace, JobID) })) {
    if (allocation.DeploymentID === ID) yield allocation;
  }
}
