import type { ClusterVersion } from '../../model/cluster-version/cluster-version.ts';
import type { FormSource } from '../form.ts';
import type { Stamps } from '../types.ts';
import { table } from './definition.ts';

/** Written only where several servers hold the log. */
export const clusterVersions = table<ClusterVersion>({
  name: 'cluster-version',
  version: 1,
  isOmittedUnused: true,
  key: ({ ID }) => [ID],
  indexes: {},
});

/** Has no rows. It is written once every server reads compressed batches of the log (`engine/etcd/log-entry.ts`). */
export const packedBatches = table<Stamps>({
  name: 'packed-batches',
  version: 1,
  isOmittedUnused: true,
  key: () => [],
  indexes: {},
});

/** The form in which the state is written. */
export const storedForm: FormSource = {
  table: clusterVersions.name,
  packing: packedBatches.name,
  of: (snapshot) => snapshot.table(clusterVersions).get('version')?.Tables,
};
