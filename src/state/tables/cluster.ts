import type { ClusterVersion } from '../../model/cluster-version/cluster-version.ts';
import type { FormSource } from '../form.ts';
import { table } from './definition.ts';

/** Written only where several servers hold the log. */
export const clusterVersions = table<ClusterVersion>({
  name: 'cluster-version',
  version: 1,
  isOmittedUnused: true,
  key: ({ ID }) => [ID],
  indexes: {},
});

/** The form in which the state is written. */
export const storedForm: FormSource = {
  table: clusterVersions.name,
  of: (snapshot) => snapshot.table(clusterVersions).get('version')?.Tables,
};
