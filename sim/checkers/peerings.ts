import type { StoredPeering } from '../../src/model/peering/peering.ts';
import {
  importedInstances,
  importedServices,
  peeringFarewells,
  peeringSecrets,
  peerings,
} from '../../src/state/tables.ts';
import type { Checker } from './checker.ts';

/**
 * With the record of a peering goes all that came from the peer, and every secret of it: but for the
 * one that shows the peer who speaks, while that has not heard of it yet.
 */
export const deletedPeeringLeavesNothing = (): Checker => ({
  guarantee: 'a deleted peering leaves nothing',
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
      const isToHear = account.get(peeringFarewells, ID) !== undefined;
      if (isToHear || account.get(peeringSecrets, ID) === undefined) continue;
      fault(`secrets of ${Name} are left`);
    }
  },
});
