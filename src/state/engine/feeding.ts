import { assert } from '../../base/assert.ts';
import { delay, type Timers } from '../../base/ports.ts';
import type { Bytes } from '../codec.ts';
import { partsOf } from '../snapshot-slices.ts';
import type { Snapshot } from '../types.ts';
import { DurableIndex } from './durable-index.ts';
import type { Batch, Engine, EngineEvent, Leadership, Loaded } from './engine.ts';
import { feedLimits } from './limits.ts';

/** A message to a reader: the parts of a snapshot and their end, and every batch from there on. */
export type Fed = Loaded | { readonly kind: 'loaded' };

/** A reader, as the thread that leads knows it. */
export interface FedReader {
  readonly send: (fed: Fed) => void;
  /** Bytes that the reader has taken so far. */
  readonly taken: () => number;
  /** Called once when it does not keep up. It is fed no more. */
  readonly tooSlow: () => void;
}

interface Feeding {
  readonly reader: FedReader;
  sentBytes: number;
}

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
  readonly #waitingBytesMax: number;
  readonly #fed = new Map<FedReader, Feeding>();

  constructor(
    engine: Engine,
    timers: Timers,
    waitingBytesMax: number = feedLimits.waitingBytesMax,
  ) {
    assert(engine.end === undefined, 'only a log that one process holds is fed to readers');
    this.#engine = engine;
    this.#timers = timers;
    this.#waitingBytesMax = waitingBytesMax;
  }

  get leadership(): Leadership {
    return this.#engine.leadership;
  }

  load(): AsyncIterable<Loaded> {
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
    for (const feeding of this.#fed.values()) this.#send(feeding, { kind: 'batch', batch: shared });
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
    const all = readers.map((reader): Feeding => ({ reader, sentBytes: 0 }));
    for (const feeding of all) this.#fed.set(feeding.reader, feeding);
    const present = () => all.filter(({ reader }) => this.#fed.has(reader));
    const isBehind = (one: Feeding) => waitingBytes(one) > feedLimits.snapshotAheadBytes;
    for await (const part of partsOf(view, this.#timers)) {
      const shared = { kind: 'snapshot-part', bytes: sharedCopy(part) } as const;
      for (const feeding of present()) this.#send(feeding, shared);
      while (present().some(isBehind)) await delay(this.#timers, feedLimits.lookAgainMs);
    }
    for (const feeding of present()) this.#send(feeding, { kind: 'loaded' });
  }

  /** Ends the feeding of a reader. */
  forget(reader: FedReader): void {
    this.#fed.delete(reader);
  }

  #send(feeding: Feeding, fed: Fed): void {
    const { reader } = feeding;
    // A single message may be of any size, such as a restore.
    if (waitingBytes(feeding) <= this.#waitingBytesMax) {
      feeding.sentBytes += bytesOf(fed);
      reader.send(fed);
      return;
    }
    this.#fed.delete(reader);
    reader.tooSlow();
  }
}

const waitingBytes = ({ reader, sentBytes }: Feeding): number => sentBytes - reader.taken();

/** The bytes of a message, as both sides count them. */
export function bytesOf(fed: Fed): number {
  if (fed.kind === 'snapshot-part') return fed.bytes.byteLength;
  return fed.kind === 'batch' ? fed.batch.bytes.byteLength : 0;
}

/** A copy in memory that threads share, so that it is made once for all readers. They copy it before they use it. */
function sharedCopy(bytes: Bytes): Bytes {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  shared.set(bytes);
  return shared as Uint8Array<ArrayBufferLike> as Bytes;
}
