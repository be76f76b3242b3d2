import { instantFromMs } from '../../base/instant.ts';
import { unhurriedPause } from '../../base/slices.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { SnapshotWriter, snapshotFormat } from '../../model/snapshot/snapshot-file.ts';
import type { SnapshotHeader } from '../../model/snapshot/snapshot-header.ts';
import { clusterIdentity } from '../../state/tables.ts';
import type { SavedState } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';

/** A snapshot that is being saved. */
export interface Saving {
  readonly header: SnapshotHeader;
  /** The file. It is made while it is read, in slices. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Saves snapshots of the state for people.
 *
 * Invariants
 *  S1. A file holds one durable view: all rows as they are stored, with secrets sealed. Requests go on
 *      meanwhile.
 *  S2. No more than a frame of a file is in memory at a time.
 *  S3. `limits.snapshot` bounds the number of views that are held, and the time of each.
 */
export class SnapshotSaver {
  readonly #context: Pick<ServerContext, 'state' | 'world'>;
  readonly #version: string;
  #saving = 0;

  constructor(context: Pick<ServerContext, 'state' | 'world'>, version: string) {
    this.#context = context;
    this.#version = version;
  }

  /** `signal` ends it early. @throws RosterError `too-many-snapshots` */
  begin(signal: AbortSignal): Saving {
    const { savesMax } = limits.snapshot;
    if (this.#saving >= savesMax) throw refusal('too-many-snapshots', { limit: savesMax });
    const { state, world } = this.#context;
    const saved = state.saved();
    const ID = state.read().table(clusterIdentity).get('cluster')?.ID ?? '';
    const header = headerOf(saved, ID, this.#version, world.clock.nowMs());
    this.#saving++;
    const over = this.#once(() => this.#saving--);
    // The generator below does not run its `finally` if nobody reads its first piece.
    if (signal.aborted) over();
    else signal.addEventListener('abort', over, { once: true });
    const texts = saved.texts(limits.snapshot.frameTextBytes);
    return { header, pieces: this.#pieces(header, texts, signal, over) };
  }

  async *#pieces(
    header: SnapshotHeader,
    texts: Iterable<Uint8Array | undefined>,
    signal: AbortSignal,
    over: () => void,
  ): AsyncGenerator<Uint8Array> {
    const { clock, timers } = this.#context.world;
    const endMs = clock.monotonicMs() + limits.snapshot.saveMaxMs;
    try {
      const writer = new SnapshotWriter();
      yield writer.begin(header);
      for (const text of texts) {
        if (text !== undefined) yield writer.rows(text);
        if (signal.aborted) return;
        await unhurriedPause(timers);
        if (clock.monotonicMs() >= endMs) throw new Error('the snapshot was not taken in time');
      }
      yield writer.end();
    } finally {
      over();
    }
  }

  #once(run: () => void): () => void {
    let isDone = false;
    return () => {
      if (!isDone) run();
      isDone = true;
    };
  }
}

/** The header of a file that holds this state. */
export const headerOf = (
  { index, tables }: SavedState,
  ClusterID: string,
  Version: string,
  nowMs: number,
): SnapshotHeader => ({
  Format: snapshotFormat,
  Version,
  ClusterID,
  Index: index,
  CreateTime: instantFromMs(nowMs),
  Tables: tables.map(({ name, version, rows }) => ({ Name: name, Version: version, Rows: rows })),
});
