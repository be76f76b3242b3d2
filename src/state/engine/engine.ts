import type { Bytes } from '../codec.ts';

/** Consecutive transactions that become durable together, or not at all. */
export interface Batch {
  readonly firstIndex: number;
  readonly lastIndex: number;
  readonly bytes: Bytes;
  /**
   * Hash of the batch before it, where several processes hold the log: `batchHash` (`batch-hash.ts`).
   * Empty in the first batch.
   */
  readonly previous?: string | undefined;
  /** Its own hash, where that is known already. */
  readonly hash?: string | undefined;
  /** Whether every process that reads the log reads the batch when it is compressed. */
  readonly isPackable?: boolean | undefined;
  /** The time of its leader when it was sent, in Unix milliseconds, where several processes hold the log. */
  readonly timeMs?: number | undefined;
}

export type Loaded =
  | { readonly kind: 'snapshot-part'; readonly bytes: Bytes }
  | { readonly kind: 'batch'; readonly batch: Batch };

/** A step of loading. `anew`: all that came before is void, and the parts of a newer snapshot follow. */
export type LoadStep = Loaded | { readonly kind: 'anew' };

export interface Leadership {
  /** Whether this process may append. */
  readonly leader: boolean;
  /** Grows with each new leader. An append or a snapshot of an older epoch is refused. */
  readonly epoch: number;
}

export interface CopiedState {
  readonly index: number;
  /** Of the last batch. */
  readonly hash: string;
}

export type EngineEvent =
  /** A term of this process begins or ends. */
  | { readonly kind: 'leadership'; readonly leadership: Leadership }
  /** The log holds a batch for which no append of this process has resolved. */
  | { readonly kind: 'batch'; readonly batch: Batch }
  /** The log lost what follows the last batch of this process: a snapshot takes the place of all before. */
  | { readonly kind: 'snapshot'; readonly parts: Iterable<Bytes> }
  /** The engine cannot go on: no append will succeed. */
  | { readonly kind: 'failed'; readonly error: Error };

/**
 * Makes transactions durable: an ordered log of batches, and snapshots.
 *
 * Invariants of every engine
 *  E1. When `append` resolves, the batch is durable: it outlives a crash of process and machine.
 *  E2. When `append` rejects, or never settles, the log holds the whole batch or nothing of it.
 *  E3. `load` yields exactly the acknowledged batches, perhaps followed by one whole batch of E2,
 *      or throws a `StateError` that names the damage. It never guesses.
 *  E4. A snapshot takes effect as a whole; only then is the log that it covers deleted. Appends go
 *      on meanwhile.
 *  E5. At most one append is under way.
 *
 * Invariants where several processes hold the log
 *  E6. After `load`, every process learns of each further batch of the log once, in order and
 *      without a gap: when its append resolves, or else by a `batch` event. After a rejection with
 *      `Fenced` the batch is not in the log and never will be; after any other rejection it may
 *      come as an event. Only a process that was away until the log was cut is told a snapshot in
 *      place of the batches.
 *  E7. A term begins when its process knows the whole log, with an epoch that no term had before.
 *      From then on no append of an older epoch succeeds.
 *  E8. The event that ends a term comes after the last append of the term has settled, and before
 *      the `batch` event of any later batch.
 */
export interface Engine {
  /**
   * Opens the store and yields the parts of the newest snapshot, then the batches after it, in
   * order. It begins anew if other processes cut the log meanwhile. Called once, before everything else. Leadership is known when it ends.
   */
  load(): AsyncIterable<LoadStep>;
  readonly leadership: Leadership;
  /** Version of the program that wrote the store last, as far as it is known. Absent where nothing tells. */
  readonly writtenBy?: () => Promise<string | undefined>;
  /**
   * Takes over `batch.bytes`. Rejects with `Fenced` unless `expectedIndex` is the last index of
   * the log and `epoch` is the current epoch.
   */
  append(batch: Batch, expectedIndex: number, epoch: number): Promise<void>;
  /** Stores a snapshot of the state at `index`. Asks for its parts one by one, and takes each of them over. */
  saveSnapshot(index: number, epoch: number, parts: AsyncIterable<Bytes>): Promise<void>;
  /**
   * Resolves with the last index of the log, read after the call, so that it covers every batch
   * acknowledged before the call to any process. Rejects while the log cannot be asked. A number where it is
   * at hand. Absent where this process alone holds the log.
   */
  readonly end?: () => Promise<number> | number;
  /**
   * Keeps a copy of the state on this machine, from which the next start goes on. It may be called after a
   * failure of the engine as well. It takes each part over. Absent where no copy is kept.
   */
  readonly keepCopy?: (at: CopiedState, parts: AsyncIterable<Bytes>) => Promise<void>;
  /** Whether the state was loaded from such a copy. */
  readonly isFromCopy?: boolean;
  /**
   * Ends the term of this process, so that another one leads: the successor, if it is named and does not fail to.
   * This process tries again after a while, unless it steps down for good. Absent where this process alone holds
   * the log.
   */
  readonly stepDown?: (isForGood: boolean, successor?: string) => Promise<void>;
  /** The name of this process for a leader that steps down; `undefined`: it cannot succeed it at once. */
  readonly candidate?: string | undefined;
  /** Whether the store is too full for new work. Absent where that is the operating system's matter. */
  readonly isFull?: boolean;
  /** Calls `listen` with each event from the end of `load` on. Returns a function that unsubscribes. */
  subscribe(listen: (event: EngineEvent) => void): () => void;
  /** Resolves when nothing is under way and everything is released. */
  close(): Promise<void>;
}
