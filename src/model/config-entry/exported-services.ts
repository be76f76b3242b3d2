import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { scopeNamePattern } from '../namespace/namespace.ts';
import { below, faultAt, type Path, quote } from '../path.ts';
import { About, List, type Model, stamps, Text, Type } from '../schema.ts';
import { isServiceName } from '../service-registration/validate-report.ts';
import { entryFields, everyService } from './config-entry.ts';
import type { ConfigKind, ServiceName } from './kind.ts';
import { noSamenessGroups } from './sameness.ts';

const ConsumerSchema = Type.Object({
  Peer: About('A peer. It need not exist yet.', Text()),
  Partition: About('A partition of this cluster.', Text()),
  SamenessGroup: About('A sameness group. Roster has none.', Text()),
});

export const ExportedServicesSchema = Type.Object({
  ...entryFields,
  Services: About(
    'The exported services.',
    List(
      Type.Object({
        Name: About(
          'The service; `*`: every service of the namespace that has an instance, or a `service-router`, `service-splitter` or `service-resolver`.',
          Text(),
          { rules: 'required; `*`, or letters, digits and inner dashes' },
        ),
        Namespace: About('Namespace of the service; `*`: every namespace.', Text(), {
          absent: '`default`',
        }),
        Consumers: About(
          'The peers and partitions that may use the service.',
          List(ConsumerSchema),
          {
            rules: 'at least one, each with one of `Peer` and `Partition`',
          },
        ),
      }),
    ),
  ),
  ...stamps,
});
export type ExportedServices = Model<typeof ExportedServicesSchema> & {
  readonly Kind: 'exported-services';
};
type Exported = NonNullable<ExportedServices['Services']>[number];
type Consumer = Model<typeof ConsumerSchema>;

/** Source: docs/behaviour/configuration.md#exported-services. */
export const exportedServices: ConfigKind<ExportedServices> = {
  kind: 'exported-services',
  summary: 'The services of a partition that peers and other partitions may use.',
  acts:
    'Services are exported to peers: their instances and their health appear there. This needs ' +
    'no proxies.',
  deletion: {
    usedBy: 'none; peers and partitions use its services',
    outcome: 'allowed: its services disappear from the peers',
  },
  schema: ExportedServicesSchema,
  access: 'mesh',
  onlyName: (partition) => partition,
  ofPartition: true,
  normalize: (entry) => ({
    ...entry,
    Services:
      entry.Services?.map((service) => ({
        ...service,
        Namespace: service.Namespace || entry.Namespace,
      })) ?? null,
  }),
  faults: ({ Services }) =>
    (Services ?? [])
      .flatMap((service, index) => serviceFaults(service, below(null, 'Services', index)))
      .concat(repeated(Services ?? [])),
  services: named,
  example: {
    Kind: 'exported-services',
    Name: 'default',
    Services: [{ Name: 'web', Consumers: [{ Peer: 'east' }] }],
  },
};

function named({ Services, Partition: partition }: ExportedServices): readonly ServiceName[] {
  return (Services ?? [])
    .filter(({ Name, Namespace }) => Name !== everyService && Namespace !== everyService)
    .map(({ Name: name, Namespace: namespace }) => ({ partition, namespace, name }));
}

function serviceFaults({ Name, Namespace, Consumers }: Exported, path: Path): Fault[] {
  const faults: Fault[] = [];
  if (Name === '') faults.push(faultAt(below(path, 'Name'), 'is required'));
  else if (Name !== everyService && !isServiceName(Name)) {
    faults.push(faultAt(below(path, 'Name'), `${nameRule}, got ${quote(Name)}`));
  }
  if (Namespace !== everyService && !scopeNamePattern.test(Namespace)) {
    const message = `must be "*" or the name of a namespace, got ${quote(Namespace)}`;
    faults.push(faultAt(below(path, 'Namespace'), message));
  }
  if (Namespace === everyService && Name !== everyService) {
    faults.push(faultAt(below(path, 'Name'), 'must be "*" for every namespace'));
  }
  const place = below(path, 'Consumers');
  if (Consumers === null) faults.push(faultAt(place, 'must have at least one consumer'));
  (Consumers ?? []).forEach((consumer, index) => {
    faults.push(...consumerFaults(consumer, below(place, index)));
  });
  return faults;
}

const nameRule = `must be "*" or the name of a service: at most ${limits.names.serviceLengthMax} letters, digits and inner dashes`;

function consumerFaults({ Peer, Partition, SamenessGroup }: Consumer, path: Path): Fault[] {
  const faults = noSamenessGroups(SamenessGroup, path);
  const given = [Peer, Partition, SamenessGroup].filter((one) => one !== '');
  if (given.length !== 1) {
    faults.push(faultAt(path, 'must have exactly one of Peer and Partition'));
  }
  for (const [field, name] of Object.entries({ Peer, Partition })) {
    if (name !== everyService) continue;
    faults.push(faultAt(below(path, field), 'must be a single name, not "*"'));
  }
  return faults;
}

function repeated(services: readonly Exported[]): Fault[] {
  const seen = new Set<string>();
  return services.flatMap(({ Name, Namespace }, index) => {
    const key = `${Namespace}\0${Name}`;
    const isKnown = Name !== '' && seen.has(key);
    seen.add(key);
    if (!isKnown) return [];
    return [faultAt(below(null, 'Services', index, 'Name'), `${quote(Name)} is given before`)];
  });
}
