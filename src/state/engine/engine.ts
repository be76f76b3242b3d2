import type { Bytes } from '../codec.ts';

/** Consecutive transactions that become durable together, or not at all. */
export interface Batch {
  readonly firstIndex: number;
  readonly lastIndex: number;
  readonly bytes: Bytes;
  /**
   * Hash of the batch before it, where several processes hold the log: `batchHash` (`batch-hash.ts`).
   * Empty in the first one.
   */
  readonly previous?: string | undefined;
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

export type EngineEvent =
  /** A term of this process begins or ends. */
  | { readonly kind: 'leadership'; readonly leadership: Leadership }
  /** The log holds a batch, and no append of this process has resolved for it. */
  | { readonly kind: 'batch'; readonly batch: Batch }
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
 *
 * Where several processes can hold the log
 *  E6. After what `load` yielded, every process comes to know each batch of the log once, in order
 *      and without a gap: as an append that resolved, or else as a `batch` event. An append that
 *      rejects with `Fenced` is not in the log and never will be; after any other rejection its
 *      batch may come as an event.
 *  E7. A term begins when its process knows the whole log, with an epoch that no term had before.
 *      From then on no append of an older epoch succeeds.
 *  E8. The event that ends a term comes after its last append has settled, and before any `batch`
 *      event of what follows it.
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
  /**
   * Resolves with the last index of the log, read after the call: what `append` had acknowledged by
   * then, to any process, is no later. Rejects while the log cannot be asked. Absent where this
   * process alone holds the log.
   */
  readonly end?: () => Promise<number>;
  /**
   * What happens that this process did not ask for, from the end of `load` on. Returns the way out.
   */
  subscribe(listen: (event: EngineEvent) => void): () => void;
  /** Resolves when nothing is under way and everything is released. */
  close(): Promise<void>;
}
