import { createHash } from 'node:crypto';
import type { Timers } from '../base/ports.ts';
import { pause } from '../base/slices.ts';
import type { StateClock } from './clock.ts';
import { type Bytes, encodeSnapshot } from './codec.ts';
import type { LoadStep } from './engine/engine.ts';
import type { OfflineStore, Standing, StoreMark } from './engine/offline.ts';
import { MoveRefusal, StoreMoved, StoreUnfinished } from './errors.ts';
import { stateLimits } from './limits.ts';
import { loadAll } from './load.ts';
import { Replica } from './replica.ts';
import { allTables, clusterIdentity } from './tables.ts';
import { emptyTables, type View } from './view.ts';

export interface Migration {
  readonly source: OfflineStore;
  readonly target: OfflineStore;
  readonly timers: Timers;
  /** Told before each step, and with the bytes of the step from time to time. */
  readonly progress: (step: MigrationStep, bytes: number) => void;
}

export type MigrationStep = 'read' | 'write' | 'compare';

export interface Migrated {
  readonly index: number;
  readonly rows: number;
  /** Of the content, the same in both stores. */
  readonly hash: string;
}

/**
 * Moves the state to another store, as it is: rows, their numbers, and the index of every range.
 *
 * Invariants
 *  M1. Before the source is sealed, the copy was read back, and its content has the same hash.
 *  M2. The source is sealed before agents may use the copy. So at no time may agents use both.
 *  M3. Interrupted before that, the source is as it was. Interrupted after it, the same migration goes on.
 *  M4. The target is empty, or holds an unfinished copy of this source, or an earlier state of this cluster
 *      that was moved away from it.
 *
 * @throws StateError
 */
export async function migrate({ source, target, timers, progress }: Migration): Promise<Migrated> {
  const [here, there] = [await source.open(), await target.open()];
  requireSource(source, target, [here, there]);
  const view = await viewOf(source, (bytes) => progress('read', bytes));
  if (view.index === 0) throw new MoveRefusal(`${source.name} is empty`);
  const { index } = view;
  requireReplaceable(there, { target, from: source.name, view });
  const hash = await contentHash(view, timers);
  progress('write', 0);
  const parts = (last?: string) => partsOf(view, timers, (bytes) => progress('write', bytes), last);
  await target.fill({ index, hash, parts, from: source.name });
  const copy = await viewOf(target, (bytes) => progress('compare', bytes));
  const found = await contentHash(copy, timers);
  if (copy.index !== index || found !== hash) {
    throw new MoveRefusal(
      `the copy in ${target.name} differs (index ${copy.index}, hash ${found}) from ${source.name} (index ${index}, hash ${hash}), which stays as it is`,
    );
  }
  if (here.mark === undefined) {
    await source.seal({ to: target.name, cluster: clusterIn(view), index });
  }
  await target.complete();
  const rows = [...view.tables.values()].reduce((sum, { size }) => sum + size, 0);
  return { index, rows, hash };
}

/** A sealed source is used only to finish what was interrupted after its seal. */
function requireSource(
  source: OfflineStore,
  target: OfflineStore,
  [{ mark }, { mark: other }]: readonly [Standing, Standing],
): void {
  if (mark?.kind === 'unfinished') throw new StoreUnfinished(source.name, mark.from);
  if (mark === undefined) return;
  const isInterrupted = mark.to === target.name && isCopyOf(source.name, other);
  if (!isInterrupted) throw new StoreMoved(source.name, mark.to);
}

/** M4. */
function requireReplaceable(
  { mark, isEmpty }: Standing,
  { target, from, view }: { readonly target: OfflineStore; readonly from: string; view: View },
): void {
  if (isEmpty || isCopyOf(from, mark)) return;
  if (mark?.kind === 'unfinished') {
    throw new MoveRefusal(
      `${target.name} holds an unfinished copy of ${mark.from}, not of ${from}`,
    );
  }
  const cluster = clusterIn(view);
  const isEarlier = cluster !== '' && mark?.cluster === cluster && mark.index <= view.index;
  if (!isEarlier) throw new MoveRefusal(`${target.name} is not empty`);
}

const isCopyOf = (from: string, mark: StoreMark | undefined): boolean =>
  mark?.kind === 'unfinished' && mark.from === from;

const clusterIn = (view: View): string => view.table(clusterIdentity).get('cluster')?.ID ?? '';

/** `progress` is told how many bytes were read, `clock` of the time of each batch. */
export async function viewOf(
  store: Pick<OfflineStore, 'load'>,
  progress: (bytes: number) => void,
  clock?: StateClock,
): Promise<View> {
  const newReplica = () => new Replica(emptyTables(allTables), stateLimits, (row) => row, clock);
  const load = () => counted(store.load(), progress);
  const { replica } = await loadAll({ load }, newReplica);
  return replica.view;
}

async function* counted(
  loading: AsyncIterable<LoadStep>,
  progress: (bytes: number) => void,
): AsyncGenerator<LoadStep> {
  let bytes = 0;
  progress(bytes);
  for await (const loaded of loading) {
    if (loaded.kind !== 'anew') {
      bytes += (loaded.kind === 'batch' ? loaded.batch : loaded).bytes.byteLength;
      progress(bytes);
    }
    yield loaded;
  }
}

/** Identifies rows, their numbers, and the index of every range. */
export async function contentHash(view: View, timers: Timers): Promise<string> {
  const sha256 = createHash('sha256');
  for await (const part of partsOf(view, timers, () => {})) sha256.update(part);
  return sha256.digest('hex');
}

export async function* partsOf(
  view: View,
  timers: Timers,
  progress: (bytes: number) => void,
  hash?: string,
): AsyncGenerator<Bytes> {
  let bytes = 0;
  for (const part of encodeSnapshot(view, stateLimits.snapshotPartBytes, { Hash: hash })) {
    if (part !== undefined) {
      bytes += part.byteLength;
      progress(bytes);
      yield part;
    }
    await pause(timers);
  }
}
