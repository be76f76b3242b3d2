import { nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/** Not in limits: as much of an id as the commands show. */
const shownIdLength = 8;

/**
 * The nodes that are not down as targets of Prometheus, each behind the server at this address.
 * Source: docs/reference/metrics.md#nodes-and-tasks.
 */
export const metricsTargets = (snapshot: Snapshot, address: string) =>
  Array.from(snapshot.table(nodes).scan(), (node) => node)
    .filter(({ Status }) => Status !== 'down')
    .map(({ ID, Name, NodePool, Datacenter }) => ({
      targets: [address],
      labels: {
        __metrics_path__: '/v1/client/metrics',
        __param_node_id: ID,
        __meta_roster_node: Name,
        __meta_roster_node_pool: NodePool,
        __meta_roster_datacenter: Datacenter,
        // Names of nodes need not be unique.
        instance: `${Name}/${ID.slice(0, shownIdLength)}`,
      },
    }));
