import type { World } from '../../base/ports.ts';
import { pause } from '../../base/slices.ts';
import { limits } from '../../model/limits.ts';
import { SnapshotWriter } from '../../model/snapshot/snapshot-file.ts';
import { savedState } from '../../state/codec.ts';
import { Draft } from '../../state/draft.ts';
import { stateLimits } from '../../state/limits.ts';
import { makeRestore, type RestoreMade } from '../../state/restore.ts';
import { allTables, clusterIdentity } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { View } from '../../state/view.ts';
import { recordOf } from './restore.ts';
import { headerOf } from './save.ts';

export interface RestoringView {
  /** Of the cluster that goes on. */
  readonly ID: string;
  /** The state that is replaced. */
  readonly before: View;
  readonly above: number;
  /** Hash of the last batch, where hashes are kept. */
  readonly previous?: string;
  readonly world: Pick<World, 'clock' | 'timers'>;
  readonly version: string;
  /** Changes the rows that go on. */
  readonly change?: (transaction: Transaction) => void;
}

/** The rows of a view as a restore, made while no server runs: nodes keep for a while what the rows do not know. */
export async function restoreOf(
  rows: View,
  { ID, before, above, previous, world, version, change = () => {} }: RestoringView,
): Promise<RestoreMade<void>> {
  const { clock, timers } = world;
  const nowMs = clock.nowMs();
  const saved = savedState(rows);
  const header = headerOf(saved, ID, version, nowMs);
  const draft = new Draft(allTables, (row) => row);
  const writer = new SnapshotWriter();
  const file = [writer.begin(header)];
  for (const text of saved.texts(limits.snapshot.frameTextBytes)) {
    if (text === undefined) continue;
    draft.add(Uint8Array.from(text));
    file.push(writer.rows(text));
    await pause(timers);
  }
  for (const _ of draft.settle()) await pause(timers);
  file.push(writer.end());
  return makeRestore(
    {
      draft,
      file,
      above,
      run: (transaction, replaced) => {
        change(transaction);
        const Restore = recordOf(transaction, replaced, header, nowMs);
        transaction.table(clusterIdentity).put({ ID, Restore });
      },
    },
    { before, previous, clock, limits: stateLimits, freeze: false },
  );
}
