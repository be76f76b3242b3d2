import type { Engine } from './engine/engine.ts';
import type { Replica } from './replica.ts';
import type { StoredBytes } from './snapshot-slices.ts';

/** Fills the replica with what the engine has stored. Returns how much that was. */
export async function loadAll(
  engine: Pick<Engine, 'load'>,
  replica: Replica,
): Promise<StoredBytes> {
  let snapshot = 0;
  let log = 0;
  for await (const loaded of engine.load()) {
    if (loaded.kind === 'snapshot-part') {
      snapshot += loaded.bytes.byteLength;
      replica.loadSnapshotPart(loaded.bytes);
    } else {
      log += loaded.batch.bytes.byteLength;
      replica.loadBatch(loaded.batch);
    }
  }
  replica.endLoading();
  return { snapshot, log };
}
