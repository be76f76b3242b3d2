import type { World } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { OfflineStore } from '../../state/engine/offline.ts';
import { MoveRefusal } from '../../state/errors.ts';
import { contentHash, partsOf, viewOf } from '../../state/migrate.ts';
import type { Examined } from '../../state/salvage/examine.ts';
import { clusterIdentity } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { View } from '../../state/view.ts';
import { type DanglingRow, dropDangling } from './dangling.ts';
import { restoreOf } from './restore-of.ts';

export interface Repairing extends Pick<Examined, 'view' | 'losses' | 'lastIndex'> {
  /** Rows of the view that are lost with others. */
  readonly dangling: readonly DanglingRow[];
  readonly world: Pick<World, 'clock' | 'timers' | 'ids'>;
  readonly version: string;
  /** An empty store, which takes the place of the damaged one. */
  readonly target: OfflineStore;
  /** Names the damaged store. */
  readonly from: string;
}

/**
 * Writes what could be read of a damaged store to a new one, and reads it back. Returns its index.
 *
 * Invariants
 *  R1. If nothing is lost, the new store has the same rows and the same indexes.
 *  R2. Otherwise it is a restore: above every index that the damaged store had given out, and nodes keep for a while
 *      what the rows do not know.
 *  R3. Until it was read back, no agent uses the new store.
 */
export async function writeRepaired(repairing: Repairing): Promise<number> {
  const { target, from, world, losses } = repairing;
  const view = losses.isEmpty ? repairing.view : await restored(repairing);
  const { index } = view;
  const hash = await contentHash(view, world.timers);
  await target.open();
  const parts = () => partsOf(view, world.timers, () => {});
  await target.fill({ index, hash, parts, from });
  const copy = await viewOf(target, () => {});
  if (copy.index !== index || (await contentHash(copy, world.timers)) !== hash) {
    throw new MoveRefusal(
      `the repaired copy of ${from} was read back differently: nothing changed`,
    );
  }
  await target.complete();
  return index;
}

async function restored({ view, lastIndex, dangling, world, version }: Repairing): Promise<View> {
  const ID = view.table(clusterIdentity).get('cluster')?.ID ?? world.ids.uuid();
  const above = lastIndex + limits.snapshot.indexLeap;
  const change = (transaction: Transaction) => dropDangling(transaction, dangling);
  return (await restoreOf(view, { ID, before: view, above, world, version, change })).view;
}
