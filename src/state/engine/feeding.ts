import { assert } from '../../base/assert.ts';
import type { Timers } from '../../base/ports.ts';
import type { Bytes } from '../codec.ts';
import type { Snapshot } from '../types.ts';
import { DurableIndex } from './durable-index.ts';
import type { Batch, Engine, EngineEvent, Leadership, LoadStep } from './engine.ts';
import { type FedReader, Feed, feedView } from './feed.ts';

/**
 * An engine that a process holds alone, and that hands its log to readers: threads of the process.
 *
 * Invariants
 *  D1. A batch is durable before a reader hears of it.
 *  D2. `durable` shows the index of a batch before a reader hears of the batch, and before its append resolves.
 *      So a reader that shows less than `durable`, read after a question came, has not seen all that any thread
 *      has told before.
 *  D3. A reader is handed a view of the durable state, and then each batch after it, once and in order.
 *  D4. The bytes that wait for a reader are bounded: a reader that does not keep up is given up.
 */
export class FeedingEngine implements Engine {
  readonly durable = new DurableIndex();
  readonly #engine: Engine;
  readonly #timers: Timers;
  readonly #waitingBytesMax: number | undefined;
  readonly #feeds = new Map<FedReader, Feed>();

  constructor(engine: Engine, timers: Timers, waitingBytesMax?: number) {
    assert(engine.end === undefined, 'only a log that one process holds is fed to readers');
    this.#engine = engine;
    this.#timers = timers;
    this.#waitingBytesMax = waitingBytesMax;
  }

  get leadership(): Leadership {
    return this.#engine.leadership;
  }

  load(): AsyncIterable<LoadStep> {
    return this.#engine.load();
  }

  async writtenBy(): Promise<string | undefined> {
    return this.#engine.writtenBy?.();
  }

  async append(batch: Batch, expectedIndex: number, epoch: number): Promise<void> {
    // The engine takes the bytes over.
    const shared = { ...batch, bytes: sharedCopy(batch.bytes) };
    await this.#engine.append(batch, expectedIndex, epoch);
    this.durable.move(batch.lastIndex);
    for (const feed of this.#feeds.values()) feed.send({ kind: 'batch', batch: shared });
  }

  saveSnapshot(index: number, epoch: number, parts: AsyncIterable<Bytes>): Promise<void> {
    return this.#engine.saveSnapshot(index, epoch, parts);
  }

  subscribe(listen: (event: EngineEvent) => void): () => void {
    return this.#engine.subscribe(listen);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  /**
   * Begins to feed the readers: the view, which is the newest durable one, and then the batches after it.
   * Resolves when the view is handed over.
   */
  async feed(view: Snapshot, readers: readonly FedReader[]): Promise<void> {
    assert(view.index >= this.durable.read(), 'readers begin with the newest durable view');
    const feeds = readers.map((reader) => new Feed(reader, this.#waitingBytesMax));
    for (const [at, reader] of readers.entries()) this.#feeds.set(reader, feeds[at]!);
    await feedView(view, feeds, this.#timers, sharedCopy);
  }

  /** Ends the feeding of a reader. */
  forget(reader: FedReader): void {
    this.#feeds.get(reader)?.end();
    this.#feeds.delete(reader);
  }
}

/** A copy in memory that threads share, so that it is made once for all readers. They copy it before they use it. */
function sharedCopy(bytes: Bytes): Bytes {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  shared.set(bytes);
  return shared as Uint8Array<ArrayBufferLike> as Bytes;
}
