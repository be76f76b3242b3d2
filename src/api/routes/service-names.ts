/** The names in lists of services, each with the facts of all its instances. */
import type {
  NamespaceServices,
  ServiceRegistration,
  ServiceStub,
} from '../../model/service-registration/service-registration.ts';
import { sortText } from '../sort-order.ts';

export interface NamedService extends Required<ServiceStub> {
  readonly Namespace: string;
  readonly Partition?: string;
}

type Told = Pick<ServiceRegistration, 'Tags' | 'Status' | 'JobID'>;

/** Gathers the facts of the instances of a service. */
export class InstanceFacts {
  readonly #tags = new Set<string>();
  readonly #jobs = new Set<string>();
  readonly #statuses = new Map<string, number>();

  add({ Tags, Status, JobID }: Told): void {
    for (const tag of Tags ?? []) this.#tags.add(tag);
    // The jobs of a peer are not known here.
    if (JobID !== '') this.#jobs.add(JobID);
    this.#statuses.set(Status, (this.#statuses.get(Status) ?? 0) + 1);
  }

  get told(): Pick<NamedService, 'Tags' | 'Statuses' | 'JobIDs'> {
    return {
      Tags: [...this.#tags].sort(),
      Statuses: Object.fromEntries(this.#statuses),
      JobIDs: [...this.#jobs].sort(),
    };
  }
}

/**
 * Groups neighbours, so that the order stays: a namespace has several groups in a list that is sorted otherwise.
 * `hasCounts`: with the numbers of instances by status, and their jobs.
 */
export function byNamespace(
  services: readonly NamedService[],
  hasCounts: boolean,
): NamespaceServices[] {
  const groups: { readonly Namespace: string; readonly Services: ServiceStub[] }[] = [];
  for (const { Namespace, ServiceName, Tags, Statuses, JobIDs } of services) {
    if (groups.at(-1)?.Namespace !== Namespace) groups.push({ Namespace, Services: [] });
    const shown = { ServiceName, Tags, ...(hasCounts && { Statuses, JobIDs }) };
    groups.at(-1)!.Services.push(shown);
  }
  return groups;
}

/** Statuses that ask to be looked at, the worst first. */
const troubles = ['critical', 'warning', 'pending'] as const;

/** The value of a service by which a list is sorted. */
export const sortedBy = (service: NamedService, field: string): unknown =>
  field === 'Statuses'
    ? troubles.map((status) => sortText(service.Statuses[status] ?? 0)).join(' ')
    : service[field as keyof NamedService];
