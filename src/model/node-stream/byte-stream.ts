import { assert } from '../../base/assert.ts';
import { limits } from '../limits.ts';
import {
  type ControlFrame,
  MalformedFrame,
  maximumCreditBytes,
  type StreamFaultFields,
} from './frames.ts';

/** The failure of a stream. It reaches the other side as an error frame with all its fields. */
export class StreamFault extends Error implements StreamFaultFields {
  override readonly name = 'StreamFault';
  readonly status: number;
  readonly code: string;

  constructor(fields: StreamFaultFields) {
    super(fields.message);
    this.status = fields.status;
    this.code = fields.code;
  }
}

export const streamCancelled = (): StreamFault =>
  new StreamFault({ status: 499, code: 'stream-cancelled', message: 'the stream was cancelled' });

export interface StreamHub {
  control(frame: ControlFrame): void;
  data(id: number, payload: Uint8Array): void;
  /** The stream has ended; its id may be forgotten. */
  over(id: number): void;
}

interface Waiter {
  readonly resolve: () => void;
}

/**
 * A stream on a connection: bytes in both directions, each under the credit of its reader.
 *
 * Invariants
 *
 *  B1. Bytes sent never exceed the credit that the other side granted.
 *  B2. Bytes received and not yet read never exceed the granted credit; else the frame is malformed.
 *  B3. A stream ends exactly once: by the accepting side's `end` or an error, or by either side's
 *      `close`. The opening side's `end` only says that it sends no more.
 *  B4. Bytes that arrived before the end are read before the end is seen; a cancel drops them.
 */
export class ByteStream implements AsyncIterable<Uint8Array> {
  readonly id: number;
  readonly kind: string;
  /** Whether this side opened the stream. */
  readonly opener: boolean;

  readonly #hub: StreamHub;
  readonly #abort = new AbortController();
  readonly #windowBytes: number;
  #sendCreditBytes: number;
  #sendEnded = false;
  #grantedBytes: number;
  #readBytes = 0;
  readonly #queue: Uint8Array[] = [];
  #receiveEnded = false;
  #failure: StreamFault | undefined;
  #readers: Waiter[] = [];
  #writers: Waiter[] = [];

  constructor(options: {
    readonly id: number;
    readonly kind: string;
    readonly opener: boolean;
    readonly hub: StreamHub;
    /** The credit that this side grants; the opener grants it in its open frame. */
    readonly windowBytes: number;
    /** The credit that the other side has granted so far. */
    readonly sendCreditBytes: number;
  }) {
    this.id = options.id;
    this.kind = options.kind;
    this.opener = options.opener;
    this.#hub = options.hub;
    this.#windowBytes = options.windowBytes;
    this.#grantedBytes = options.opener ? options.windowBytes : 0;
    this.#sendCreditBytes = options.sendCreditBytes;
  }

  /** Aborted when the stream ends, for whatever reason. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isOver(): boolean {
    return this.#abort.signal.aborted;
  }

  /**
   * Resolves when the connection has all bytes; it waits for the reader's credit. Rejects with {@link
   * StreamFault} if the stream has ended. A single writer at a time keeps its bytes together.
   */
  async write(bytes: Uint8Array): Promise<void> {
    let position = 0;
    while (position < bytes.length) {
      if (this.isOver) throw this.#failure ?? streamCancelled();
      assert(!this.#sendEnded, 'write after end of a stream');
      const room = Math.min(this.#sendCreditBytes, limits.stream.sentFrameBytes);
      if (room === 0) {
        await new Promise<void>((resolve) => this.#writers.push({ resolve }));
        continue;
      }
      const payload = bytes.subarray(position, position + room);
      this.#sendCreditBytes -= payload.length;
      position += payload.length;
      this.#hub.data(this.id, payload);
    }
  }

  /** This side sends no more. From the accepting side, it completes the stream. */
  end(): void {
    if (this.isOver || this.#sendEnded) return;
    this.#sendEnded = true;
    this.#hub.control({ type: 'end', id: this.id });
    if (!this.opener) this.#finish();
  }

  /** Ends the stream with an error for the reader and the writer of the other side. */
  fail(fault: StreamFaultFields): void {
    if (this.isOver) return;
    const { status, code, message } = fault;
    this.#hub.control({ type: 'error', id: this.id, status, code, message });
    this.#finish(new StreamFault(fault));
  }

  /** This side neither reads nor sends any more. */
  cancel(): void {
    this.#queue.length = 0;
    if (this.isOver) return;
    this.#hub.control({ type: 'close', id: this.id });
    this.#finish(streamCancelled());
  }

  /** The bytes that arrive, in order, for a single reader. Leaving the loop early cancels an open stream. */
  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array, void> {
    if (!this.opener && this.#grantedBytes === 0 && !this.isOver) this.#grant(this.#windowBytes);
    try {
      for (;;) {
        const chunk = this.#queue.shift();
        if (chunk !== undefined) {
          this.#noteRead(chunk.length);
          yield chunk;
        } else if (this.#failure !== undefined) {
          throw this.#failure;
        } else if (this.#receiveEnded) {
          return;
        } else {
          await new Promise<void>((resolve) => this.#readers.push({ resolve }));
        }
      }
    } finally {
      if (this.opener) this.cancel();
    }
  }

  /** The connection calls the methods below for frames of this stream. */
  receiveData(payload: Uint8Array): void {
    if (this.#receiveEnded) throw new MalformedFrame('data came after the end of its stream');
    if (payload.length > this.#grantedBytes)
      throw new MalformedFrame('data came beyond its credit');
    this.#grantedBytes -= payload.length;
    // A queued view keeps the memory of the whole message alive, which may be far more.
    const isMost = payload.length * 2 > payload.buffer.byteLength;
    if (payload.length > 0) this.#queue.push(isMost ? payload : new Uint8Array(payload));
    this.#wake('readers');
  }

  receiveControl(frame: Exclude<ControlFrame, { type: 'open' }>): void {
    if (frame.type === 'credit') {
      this.#sendCreditBytes += frame.bytes;
      if (this.#sendCreditBytes > maximumCreditBytes) {
        throw new MalformedFrame('more credit than a stream may have');
      }
      this.#wake('writers');
    } else if (frame.type === 'close') {
      this.#finish(streamCancelled());
    } else if (frame.type === 'error') {
      this.#finish(new StreamFault(frame));
    } else {
      this.#receiveEnded = true;
      if (this.opener) this.#finish();
      else this.#wake('readers');
    }
  }

  /** Called when the connection is lost. */
  disconnect(fault: StreamFault): void {
    this.#finish(fault);
  }

  #noteRead(bytes: number): void {
    this.#readBytes += bytes;
    if (this.isOver || this.#receiveEnded || this.#readBytes * 2 < this.#windowBytes) return;
    this.#grant(this.#readBytes);
    this.#readBytes = 0;
  }

  #grant(bytes: number): void {
    this.#grantedBytes += bytes;
    this.#hub.control({ type: 'credit', id: this.id, bytes });
  }

  #finish(failure?: StreamFault): void {
    if (this.isOver) return;
    this.#failure ??= failure;
    this.#receiveEnded = true;
    this.#hub.over(this.id);
    this.#abort.abort();
    this.#wake('readers');
    this.#wake('writers');
  }

  #wake(side: 'readers' | 'writers'): void {
    const waiters = side === 'readers' ? this.#readers : this.#writers;
    if (side === 'readers') this.#readers = [];
    else this.#writers = [];
    for (const waiter of waiters) waiter.resolve();
  }
}
