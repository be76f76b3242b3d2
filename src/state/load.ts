import type { Engine } from './engine/engine.ts';
import type { Replica } from './replica.ts';
import type { StoredBytes } from './snapshot-slices.ts';

export interface LoadedState {
  readonly replica: Replica;
  /** How much the engine had stored. */
  readonly stored: StoredBytes;
}

/** Fills a new replica with the state that the engine has stored. */
export async function loadAll(
  engine: Pick<Engine, 'load'>,
  newReplica: () => Replica,
): Promise<LoadedState> {
  let replica = newReplica();
  let stored = { snapshot: 0, log: 0 };
  for await (const loaded of engine.load()) {
    if (loaded.kind === 'anew') {
      replica = newReplica();
      stored = { snapshot: 0, log: 0 };
    } else if (loaded.kind === 'snapshot-part') {
      stored.snapshot += loaded.bytes.byteLength;
      replica.loadSnapshotPart(loaded.bytes);
    } else {
      stored.log += loaded.batch.bytes.byteLength;
      replica.loadBatch(loaded.batch);
    }
  }
  replica.endLoading();
  return { replica, stored };
}
