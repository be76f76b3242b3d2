import { type Fault, invalid } from '../../model/errors.ts';
import type { Job } from '../../model/job/job.ts';
import { capabilityFaults } from '../../model/namespace/capabilities.ts';
import { below, type Path } from '../../model/path.ts';
import { inNamespace, namespaces } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/**
 * Everything in the job that its namespace does not allow now. Checked within every transaction
 * that stores or plans a job: register, revert, scale, dispatch, launch, and the rollback of a
 * deployment. Allocations that run already go on.
 */
export function notAllowedIn(view: Snapshot, job: Job, at: Path = asSent): readonly Fault[] {
  const namespace = view.table(namespaces).get(...inNamespace(job.Namespace));
  return namespace === undefined ? [] : capabilityFaults(namespace, job, at);
}

/** @throws RosterError `job-not-allowed` */
export function requireCapabilities(view: Snapshot, job: Job): void {
  const faults = notAllowedIn(view, job);
  if (faults.length > 0) throw invalid('job-not-allowed', faults);
}

/** The path of a job in the body of a registration. */
const asSent = below(null, 'Job');
