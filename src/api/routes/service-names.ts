/** The names in lists of services, each with the facts of all its instances. */
import type {
  NamespaceServices,
  ServiceRegistration,
  ServiceStub,
} from '../../model/service-registration/service-registration.ts';

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

/** `hasCounts`: with the numbers of instances by status, and their jobs. */
export function byNamespace(
  services: readonly NamedService[],
  hasCounts: boolean,
): NamespaceServices[] {
  const groups = Map.groupBy(services, ({ Namespace }) => Namespace);
  return [...groups].map(([Namespace, ofIt]) => ({
    Namespace,
    Services: ofIt.map(({ ServiceName, Tags, Statuses, JobIDs }) => ({
      ServiceName,
      Tags,
      ...(hasCounts && { Statuses, JobIDs }),
    })),
  }));
}
