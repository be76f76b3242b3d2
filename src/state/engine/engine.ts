import type { Bytes } from '../codec.ts';

/** Consecutive transactions that become durable together, or not at all. */
export interface Batch {
  readonly firstIndex: number;
  readonly lastIndex: number;
  readonly bytes: Bytes;
}

export type Loaded =
  | { readonly kind: 'snapshot-part'; readonly bytes: Bytes }
  | { readonly kind: 'batch'; readonly batch: Batch };

export interface Leadership {
  /** Whether this process may append. */
  readonly leader: boolean;
  /** Grows with each new leader. An append or a snapshot of an older one is refused. */
  readonly epoch: number;
}

/** An engine with followers will add another leader's batch, in order after what was loaded. */
export type EngineEvent =
  | { readonly kind: 'leadership'; readonly leadership: Leadership }
  /** The engine cannot go on: no append will succeed. */
  | { readonly kind: 'failed'; readonly error: Error };

/**
 * Where committed transactions are made durable: an ordered log of batches plus snapshots.
 *
 * What every engine promises
 *  E1. When `append` resolves, the batch is durable: it outlives a crash of process and machine.
 *  E2. When `append` rejects, or never settles, the batch is there whole or not at all.
 *  E3. `load` yields exactly what was acknowledged, perhaps followed by one such whole batch of
 *      E2, or throws a `StateError` that names what is wrong. It never guesses.
 *  E4. A snapshot takes effect as a whole when `saveSnapshot` resolves; only then does the log
 *      before it go. Appends go on meanwhile.
 *  E5. One append is under way at a time.
 */
export interface Engine {
  /**
   * Opens the store and yields the parts of the newest snapshot, then the batches after it, in
   * order. Called once, first. Leadership is known when it ends.
   */
  load(): AsyncIterable<Loaded>;
  readonly leadership: Leadership;
  /**
   * Takes over `batch.bytes`. Rejects with `Fenced` unless `expectedIndex` is the last index of
   * the log and `epoch` the current one.
   */
  append(batch: Batch, expectedIndex: number, epoch: number): Promise<void>;
  /** Stores a snapshot as of `index`, taking its parts as it needs them. */
  saveSnapshot(index: number, epoch: number, parts: AsyncIterable<Bytes>): Promise<void>;
  /** What happens that this process did not ask for. Returns the way out. */
  subscribe(listen: (event: EngineEvent) => void): () => void;
  /** Resolves when nothing is under way and everything is released. */
  close(): Promise<void>;
}
