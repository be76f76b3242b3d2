/** Services as the list shows them: the statuses of their instances as counts. */
import type { NamespaceServices } from '../../../../src/model/service-registration/service-registration.ts';
import type { BarPart } from '../../parts/Bar.svelte';
import type { Tone } from '../../parts/status.ts';

export interface ServiceRow {
  readonly namespace: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly jobs: readonly string[];
  readonly statuses: Readonly<Record<string, number>>;
}

/** The worst first. */
const looks: readonly (readonly [string, string, Tone])[] = [
  ['critical', 'Critical', 'bad'],
  ['warning', 'Warning', 'warn'],
  ['pending', 'Pending', 'info'],
  ['passing', 'Passing', 'ok'],
  ['unchecked', 'Unchecked', 'idle'],
];

export const partsOf = (statuses: ServiceRow['statuses']): readonly BarPart[] =>
  looks.map(([status, word, tone]) => ({ word, tone, count: statuses[status] ?? 0 }));

export const instanceCountOf = (statuses: ServiceRow['statuses']): number =>
  Object.values(statuses).reduce((sum, count) => sum + count, 0);

/** The server groups neighbours of the same namespace. */
export const rowsOf = (groups: readonly NamespaceServices[]): readonly ServiceRow[] =>
  groups.flatMap(({ Namespace, Services }) =>
    Services.map(({ ServiceName, Tags, Statuses = {}, JobIDs = [] }) => ({
      namespace: Namespace,
      name: ServiceName,
      tags: Tags,
      jobs: JobIDs,
      statuses: Statuses,
    })),
  );
