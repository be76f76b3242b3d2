import type { StoredPeering } from '../../src/model/peering/peering.ts';
import {
  importedInstances,
  importedServices,
  peeringSecrets,
  peerings,
} from '../../src/state/tables.ts';
import type { Checker } from './checker.ts';

/** With the record of a peering goes all that came from the peer, and every secret of it. */
export const deletedPeeringLeavesNothing = (): Checker => ({
  guarantee: 'a deleted peering leaves nothing',
  committed(changes, _index, { account }, fault) {
    for (const { table, before, after } of changes) {
      if (table !== peerings.name || after !== undefined) continue;
      const { ID, Name, Partition } = before as StoredPeering;
      const left = [
        ...account.rows(importedServices).values(),
        ...account.rows(importedInstances).values(),
      ].filter((row) => row.Peer === Name && row.Partition === Partition);
      if (left.length > 0) fault(`${left.length} rows of ${Name} are left`);
      if (account.get(peeringSecrets, ID) !== undefined) fault(`secrets of ${Name} are left`);
    }
  },
});
