import type { Clock } from '../../../base/ports.ts';
import { Diverged, LogCut, StateCorrupted } from '../../errors.ts';
import type { Batch } from '../engine.ts';
import { type EtcdClient, isCompacted, type KeyValue, type WatchEvent } from './client.ts';
import { decodeHead, type LogHead } from './head.ts';
import type { Keys } from './keys.ts';
import { batchOf, decodeEntry, type ReadBatch } from './log-entry.ts';
import type { Front, LogReader } from './log-reader.ts';
import { nowhere, type Position, requireSameLog, shownPosition } from './position.ts';

export interface FollowerOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly reader: LogReader;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Rejects with `Diverged` if the log does not go on from what this server knew when it last ran. */
  readonly confirm: (front: Front) => Promise<void>;
  /**
   * Told of each linearizable read of the same log, and when it was sent, on the monotonic clock. Throws if servers may
   * not use it.
   */
  readonly looked: (front: Front, sentMs: number) => void;
  /** Whether batches come from other processes: not in a term, and not while an append settles. */
  readonly follows: () => boolean;
  /** Of the term of this process. */
  readonly epoch: () => number | undefined;
  readonly batch: (batch: Batch) => void;
  /** The log no longer has the next batch. Resolves with whether a snapshot replaced it. */
  readonly cut: (front: Front) => Promise<boolean>;
  /** Another term has begun. */
  readonly superseded: () => void;
  /** The leader key seems to have no holder any more. */
  readonly leaderGone: () => void;
  /** The leader key seems to have a new holder. */
  readonly leaderPut: (leader: KeyValue) => void;
  readonly fault: (error: unknown) => void;
}

/**
 * Keeps the position of this process in the log, and takes in the batches that follow.
 *
 * Invariants
 *  F1. The position moves by batches that follow the last one, by index and by hash.
 *  F2. Each linearizable read of the head is compared with the position at which it was sent. A log that
 *      does not go on from there has diverged.
 *  F3. A watch is a hint. An event is taken in if it follows by index and hash; anything else only causes a
 *      linearizable read. All its parts are read at one revision.
 *  F4. In a term of this process the watch has head and leader key alone: etcd does not send back what this process
 *      puts.
 */
export class Follower {
  readonly #options: FollowerOptions;
  #position: Position = nowhere;
  #unwatch: (() => void) | undefined;
  #isHinted = false;
  #isHintedAgain = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  get position(): Position {
    return this.#position;
  }

  startAt({ index, hash }: Pick<Position, 'index' | 'hash'>): void {
    this.#position = { ...this.#position, index, hash };
  }

  /** This process has put the head. */
  moveTo({ index, hash, cluster }: LogHead): void {
    this.#position = { ...this.#position, index, hash, cluster };
  }

  /** Begins to watch, or to watch what a term, or its end, makes worth watching. F4. */
  watch(): void {
    const { client, keys, epoch } = this.#options;
    const span = epoch() === undefined ? keys.watched : keys.front;
    const unwatch = client.watch(span, {
      began: () => this.hint(),
      events: (events) => this.#onEvents(events),
    });
    this.#unwatch?.();
    this.#unwatch = unwatch;
  }

  stop(): void {
    this.#unwatch?.();
  }

  /** Reads head and leader key linearizably. @throws Diverged */
  async look(): Promise<Front> {
    const position = this.#position;
    const sentMs = this.#options.clock.monotonicMs();
    const front = await this.#options.reader.front();
    await this.#options.confirm(front);
    requireSameLog(position, front);
    this.#options.looked(front, sentMs);
    const { head, etcd } = front;
    this.#position = { ...this.#position, cluster: head?.cluster ?? this.#position.cluster, etcd };
    const epoch = this.#options.epoch();
    if (epoch !== undefined && head !== undefined && head.epoch > epoch) this.#options.superseded();
    return front;
  }

  /** Takes in all that the log holds now. Resolves with the head up to which that is. @throws Diverged, StateCorrupted */
  async pull(): Promise<Front> {
    for (;;) {
      const front = await this.look();
      if (!this.#options.follows()) return front;
      try {
        for await (const batch of this.batchesUpTo(front)) this.#options.batch(batch);
        return front;
      } catch (error) {
        const isReplaced = error instanceof LogCut && (await this.#options.cut(front));
        // Etcd may have come back older in the middle of the read.
        if (error instanceof StateCorrupted) await this.look();
        // Another read may have found the cut at the same time, and have replaced the batches.
        const isOver =
          error instanceof LogCut && !isReplaced && this.#position.index === error.index;
        if (isOver || !(isCompacted(error) || error instanceof LogCut)) throw error;
      }
    }
  }

  /** The batches from the position on, which moves along. @throws Diverged, LogCut */
  async *batchesUpTo({ head, revision }: Front): AsyncGenerator<Batch> {
    if (head === undefined || head.index <= this.#position.index) return;
    const { reader } = this.#options;
    for await (const batch of reader.batchesAfter(this.#position.index, revision)) {
      // A watch may have told of it meanwhile.
      if (batch.lastIndex <= this.#position.index) continue;
      this.#step(batch);
      yield batch;
    }
    if (this.#position.index < head.index) throw new LogCut(this.#position.index);
  }

  /** The log may have grown. */
  hint(): void {
    this.#isHintedAgain = true;
    if (!this.#isHinted) void this.#followHints();
  }

  async #followHints(): Promise<void> {
    this.#isHinted = true;
    try {
      while (this.#isHintedAgain) {
        this.#isHintedAgain = false;
        await this.pull();
      }
    } catch (error) {
      this.#options.fault(error);
    } finally {
      this.#isHinted = false;
    }
  }

  #step(batch: ReadBatch): void {
    const { index, hash } = this.#position;
    if (batch.firstIndex > index + 1) throw new LogCut(index);
    if (batch.firstIndex <= index || batch.previous !== hash) {
      const found = `goes on from ${batch.previous || 'no batch'} at index ${batch.firstIndex}`;
      throw new Diverged(shownPosition(this.#position), found);
    }
    this.#position = { ...this.#position, index: batch.lastIndex, hash: batch.hash };
  }

  #onEvents(events: readonly WatchEvent[]): void {
    const { keys, leaderGone, leaderPut } = this.#options;
    for (const { kind, keyValue } of events) {
      try {
        if (keyValue.key === keys.leader) {
          if (kind === 'delete') leaderGone();
          else leaderPut(keyValue);
        } else if (kind === 'delete') continue;
        else if (keyValue.key === keys.head) this.#onHead(keyValue);
        else this.#onEntry(keyValue);
      } catch {
        // A linearizable read finds the entry whole, or reports it as damaged.
        this.hint();
      }
    }
  }

  #onHead({ key, value }: KeyValue): void {
    const { index, epoch } = decodeHead(value, key);
    const own = this.#options.epoch();
    const isNews = own === undefined ? index > this.#position.index : epoch > own;
    if (isNews) this.hint();
  }

  #onEntry({ key, value }: KeyValue): void {
    if (!this.#options.follows()) return;
    const entry = decodeEntry(value, key);
    const { index, hash } = this.#position;
    if (entry.last <= index) return;
    const follows = entry.first === index + 1 && entry.previous === hash;
    // Parts need a read, and so does a log whose cluster id is not known yet.
    if (!follows || entry.parts > 0 || this.#position.cluster === undefined) {
      this.hint();
      return;
    }
    const batch = batchOf(entry, entry.bytes, key);
    this.#step(batch);
    this.#options.batch(batch);
  }
}
