import {
  type Deployment,
  type DeploymentStatus,
  deploymentStatuses,
} from '../../model/deployment/deployment.ts';
import { type Job, jobStatuses } from '../../model/job/job.ts';
import type { JobSummary } from '../../model/job-summary/job-summary.ts';
import {
  type ServiceRegistration,
  serviceStatuses,
} from '../../model/service-registration/service-registration.ts';
import { deployments, jobSummaries, jobs, serviceRegistrations } from '../../state/tables.ts';
import { byJob, byNamespace, Counts, jobLabel } from './counts.ts';
import { columnsOf, Tally } from './tally.ts';

const jobColumns = columnsOf(jobStatuses);

/** Jobs by status. */
export class JobTally extends Tally<Job> {
  readonly table = jobs;
  readonly columns = jobStatuses;
  readonly counts = new Counts(jobStatuses.length, byNamespace('type'));

  protected count({ Namespace, Type, Status }: Job, by: 1 | -1): void {
    const group = this.counts.at(Namespace, Type);
    group.add(jobColumns[Status], by);
    group.hold(by);
  }
}

/** Allocations that jobs want and that have no place. */
export class UnplacedTally extends Tally<JobSummary> {
  readonly table = jobSummaries;
  readonly counts = new Counts(1, byJob);

  protected count({ Namespace, JobID, Summary }: JobSummary, by: 1 | -1): void {
    const group = this.counts.at(Namespace, jobLabel(JobID));
    for (const name of Object.keys(Summary)) group.add(0, by * Summary[name]!.Queued);
    group.hold(by);
  }
}

const deploymentColumns = columnsOf(deploymentStatuses);

const endedStatuses = ['successful', 'failed', 'cancelled'] as const;
const endedColumns: Partial<Record<DeploymentStatus, number>> = columnsOf(endedStatuses);

/** Deployments by status, and the number that has ended since the counting began. */
export class DeploymentTally extends Tally<Deployment> {
  readonly table = deployments;
  readonly columns = deploymentStatuses;
  readonly counts = new Counts(deploymentStatuses.length, byNamespace());
  readonly endedColumns = endedStatuses;
  readonly ended = new Counts(endedStatuses.length, byNamespace());

  protected count({ Namespace, Status }: Deployment, by: 1 | -1): void {
    const group = this.counts.at(Namespace);
    group.add(deploymentColumns[Status], by);
    group.hold(by);
    this.ended.at(Namespace).hold(by);
  }

  override change(before: Deployment | undefined, after: Deployment | undefined): void {
    super.change(before, after);
    if (after === undefined || before?.Status === after.Status) return;
    const column = endedColumns[after.Status];
    if (column !== undefined) this.ended.at(after.Namespace).add(column, 1);
  }
}

const serviceColumns = columnsOf(serviceStatuses);

/** Instances of services by the status of their checks. */
export class ServiceTally extends Tally<ServiceRegistration> {
  readonly table = serviceRegistrations;
  readonly columns = serviceStatuses;
  readonly counts = new Counts(serviceStatuses.length, byNamespace());

  protected count({ Namespace, Status }: ServiceRegistration, by: 1 | -1): void {
    const group = this.counts.at(Namespace);
    group.add(serviceColumns[Status], by);
    group.hold(by);
  }
}
