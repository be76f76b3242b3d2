import { limits } from '../limits.ts';
import { type Path, quote, type Report } from '../path.ts';
import { About, Text } from '../schema.ts';
import type { ServiceName } from './kind.ts';

/** Fields of the routing kinds for a destination. An empty field means the entry's own. */
export const destinationFields = {
  Service: About('The service.', Text({ maxLength: limits.names.lengthMax }), {
    absent: 'the service of the entry',
  }),
  ServiceSubset: About('A subset that the resolver of the service defines.', Text(), {
    absent: 'the default subset of the service, if it has one',
  }),
  Namespace: About('Namespace of the service.', Text(), { absent: 'the namespace of the entry' }),
  Partition: About('Partition of the service.', Text(), { absent: 'the partition of the entry' }),
};

interface Destination {
  readonly Service: string;
  readonly Namespace: string;
  readonly Partition: string;
}

interface Entry {
  readonly Name: string;
  readonly Namespace: string;
  readonly Partition: string;
}

/** The service that a destination in an entry leads to. */
export function destinationOf(
  entry: Entry,
  { Service, Namespace, Partition }: Destination,
): ServiceName {
  return {
    partition: Partition || entry.Partition,
    namespace: Namespace || entry.Namespace,
    name: Service || entry.Name,
  };
}

export const isSameService = (left: ServiceName, right: ServiceName): boolean =>
  left.name === right.name &&
  left.namespace === right.namespace &&
  left.partition === right.partition;

/** Services that destinations of an entry lead to: each once, without the entry's own service. */
export function namedServices(
  entry: Entry,
  destinations: readonly Destination[],
): readonly ServiceName[] {
  const named = new Map<string, ServiceName>();
  const own = destinationOf(entry, { Service: '', Namespace: '', Partition: '' });
  for (const destination of destinations) {
    const service = destinationOf(entry, destination);
    if (isSameService(service, own)) continue;
    named.set(JSON.stringify([service.partition, service.namespace, service.name]), service);
  }
  return [...named.values()];
}

/** Reports a name that is not the name of a single service. */
export function checkServiceName(name: string, path: Path, report: Report): void {
  if (name.includes('*')) report(path, `must be the name of one service, got ${quote(name)}`);
}
