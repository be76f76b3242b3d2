import { limits } from '../limits.ts';
import { below, type Path, type Report } from '../path.ts';
import { About, Text } from '../schema.ts';
import type { ConfigEntry } from './config-entry.ts';
import type { ServiceName } from './kind.ts';

/** A service as an entry names it. */
export const namedServiceFields = {
  Name: About('Name of the service.', Text({ maxLength: limits.names.lengthMax })),
  Namespace: About('Where the service is.', Text(), { absent: 'that of the entry' }),
  Partition: About('Where the service is.', Text(), { absent: 'that of the entry' }),
};

interface NamedService {
  readonly Name: string;
  readonly Namespace: string;
  readonly Partition: string;
}

/** The reference with its place filled in from the entry that makes it. */
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

/** One text for each service, fit for sets and for sorting. */
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

/** Reports every reference that came before. */
export function checkDistinct(
  references: readonly NamedService[],
  pathOf: (index: number) => Path,
  report: Report,
): void {
  const seen = new Set<string>();
  references.forEach((reference, index) => {
    const identity = identityOf(reference);
    if (reference.Name !== '' && seen.has(identity)) {
      report(pathOf(index), `${JSON.stringify(reference.Name)} is there already`);
    }
    seen.add(identity);
  });
}
