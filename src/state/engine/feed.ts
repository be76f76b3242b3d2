import { delay, type Timers } from '../../base/ports.ts';
import type { Bytes } from '../codec.ts';
import { partsOf } from '../snapshot-slices.ts';
import type { Snapshot } from '../types.ts';
import type { Loaded } from './engine.ts';
import { feedLimits } from './limits.ts';

/** A message to a reader: the parts of a snapshot and their end, and every batch from there on. */
export type Fed = Loaded | { readonly kind: 'loaded' };

/** A thread that follows the log, as the thread that leads knows it. */
export interface FedReader {
  readonly send: (fed: Fed) => void;
  /** Bytes that the reader has taken so far. */
  readonly taken: () => number;
  /** Called once when it does not keep up. It is fed no more. */
  readonly tooSlow: () => void;
}

/**
 * What is sent to a reader. The bytes that wait for it are bounded: a reader that does not keep up is given up.
 */
export class Feed {
  readonly #reader: FedReader;
  readonly #waitingBytesMax: number;
  #sentBytes = 0;
  #isOver = false;

  constructor(reader: FedReader, waitingBytesMax: number = feedLimits.waitingBytesMax) {
    this.#reader = reader;
    this.#waitingBytesMax = waitingBytesMax;
  }

  /** Whether it is fed no more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get waitingBytes(): number {
    return this.#sentBytes - this.#reader.taken();
  }

  send(fed: Fed): void {
    if (this.#isOver) return;
    // A single message may be of any size, such as a restore.
    if (this.waitingBytes <= this.#waitingBytesMax) {
      this.#sentBytes += bytesOf(fed);
      this.#reader.send(fed);
      return;
    }
    this.#isOver = true;
    this.#reader.tooSlow();
  }

  end(): void {
    this.#isOver = true;
  }
}

/** Sends the rows of a view, no faster than they are taken. `given` has the bytes as they are sent. */
export async function feedView(
  view: Snapshot,
  feeds: readonly Feed[],
  timers: Timers,
  given: (bytes: Bytes) => Bytes = (bytes) => bytes,
): Promise<void> {
  const isBehind = (one: Feed) => !one.isOver && one.waitingBytes > feedLimits.snapshotAheadBytes;
  for await (const part of partsOf(view, timers)) {
    if (feeds.every((feed) => feed.isOver)) return;
    const sent = { kind: 'snapshot-part', bytes: given(part) } as const;
    for (const feed of feeds) feed.send(sent);
    while (feeds.some(isBehind)) await delay(timers, feedLimits.lookAgainMs);
  }
  for (const feed of feeds) feed.send({ kind: 'loaded' });
}

/** The bytes of a message, as both sides count them. */
export function bytesOf(fed: Fed): number {
  if (fed.kind === 'snapshot-part') return fed.bytes.byteLength;
  return fed.kind === 'batch' ? fed.batch.bytes.byteLength : 0;
}
