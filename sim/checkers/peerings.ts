import type { StoredPeering } from '../../src/model/peering/peering.ts';
import {
  importedInstances,
  importedServices,
  peeringFarewells,
  peeringSecrets,
  peerings,
} from '../../src/state/tables.ts';
import type { Checker } from './checker.ts';

export const deletionGuarantee = 'a deleted peering leaves nothing behind';

/**
 * The imported services and the secrets of a peering are deleted with it. The secret that authenticates
 * the cluster to the peer stays until the peer has learned of the deletion.
 */
export const deletedPeeringLeavesNothing = (): Checker => ({
  guarantee: deletionGuarantee,
  committed(changes, _index, { account }, fault) {
    for (const { table, before, after } of changes) {
      const isGone = after === undefined && [peerings.name, peeringFarewells.name].includes(table);
      if (!isGone) continue;
      const { ID, Name, Partition } = before as StoredPeering;
      if (account.get(peerings, Partition, Name) !== undefined) continue;
      const left = [
        ...account.rows(importedServices).values(),
        ...account.rows(importedInstances).values(),
      ].filter((row) => row.Peer === Name && row.Partition === Partition);
      if (left.length > 0) fault(`${left.length} rows of ${Name} are left`);
      const isPending = account.get(peeringFarewells, ID) !== undefined;
      if (isPending || account.get(peeringSecrets, ID) === undefined) continue;
      fault(`secrets of ${Name} are left`);
    }
  },
});
