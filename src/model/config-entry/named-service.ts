import { limits } from '../limits.ts';
import { below, type Path, type Report } from '../path.ts';
import { About, Text } from '../schema.ts';
import type { ConfigEntry } from './config-entry.ts';
import type { ServiceName } from './kind.ts';

/** The fields by which an entry names a service. */
export const namedServiceFields = {
  Name: About('Name of the service.', Text({ maxLength: limits.names.lengthMax }), {
    rules: 'required',
  }),
  Namespace: About('Namespace of the service.', Text(), { absent: 'that of the entry' }),
  Partition: About('Partition of the service.', Text(), { absent: 'that of the entry' }),
};

interface NamedService {
  readonly Name: string;
  readonly Namespace: string;
  readonly Partition: string;
}

/** The reference; its empty namespace and partition are those of the entry. */
export const placedReference = <R extends Pick<NamedService, 'Namespace' | 'Partition'>>(
  reference: R,
  { Namespace, Partition }: Pick<ConfigEntry, 'Namespace' | 'Partition'>,
): R => ({
  ...reference,
  Namespace: reference.Namespace || Namespace,
  Partition: reference.Partition || Partition,
});

export const serviceNameOf = ({ Name, Namespace, Partition }: NamedService): ServiceName => ({
  partition: Partition,
  namespace: Namespace,
  name: Name,
});

/** The text that identifies a service, for sets and for sorting. */
export const identityOf = ({ Name, Namespace, Partition }: NamedService): string =>
  `${Partition}/${Namespace}/${Name}`;

export function checkServiceName(
  { Name }: Pick<NamedService, 'Name'>,
  every: 'one' | 'every too',
  path: Path,
  report: Report,
): void {
  if (Name === '') report(below(path, 'Name'), 'is required');
  else if (every === 'one' && Name === '*') {
    report(below(path, 'Name'), 'must be one service, not "*"');
  }
}

/** Reports every repeated reference. */
export function checkDistinct(
  references: readonly NamedService[],
  pathOf: (index: number) => Path,
  report: Report,
): void {
  const seen = new Set<string>();
  references.forEach((reference, index) => {
    const identity = identityOf(reference);
    if (reference.Name !== '' && seen.has(identity)) {
      report(pathOf(index), `${JSON.stringify(reference.Name)} is listed already`);
    }
    seen.add(identity);
  });
}
