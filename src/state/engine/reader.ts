import type { Clock, Timers } from '../../base/ports.ts';
import type { Bytes } from '../codec.ts';
import { Fenced } from '../errors.ts';
import type { DurableIndex } from './durable-index.ts';
import type { Batch, Engine, EngineEvent, Leadership, Loaded } from './engine.ts';
import { bytesOf, type Fed } from './feed.ts';
import { feedLimits } from './limits.ts';

/** The event loop of a reader that others ask. */
export interface ReaderTurns {
  readonly timers: Pick<Timers, 'soon'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * The engine of a reader: it follows a log that another thread of its process holds (`feeding.ts`), and never leads.
 *
 * Invariants
 *  G1. Messages take effect in the order in which they came. With turns, those that came together hold the thread for
 *      `turnMs` and the last of them: requests are answered in between. Without, each takes effect at once.
 */
export class ReaderEngine implements Engine {
  readonly leadership: Leadership = { leader: false, epoch: 0 };
  readonly #durable: DurableIndex;
  readonly #note: (bytes: number) => void;
  readonly #parts: Loaded[] = [];
  /** Batches that came before somebody listened. */
  readonly #early: Batch[] = [];
  readonly #turns: ReaderTurns | undefined;
  /** Messages that wait for a turn. */
  readonly #waiting: Fed[] = [];
  #isLoaded = false;
  #wake: () => void = () => {};
  #tell: ((event: EngineEvent) => void) | undefined;

  /** `note` is told of the bytes of each message that was taken. */
  constructor(
    durable: DurableIndex,
    note: (bytes: number) => void = () => {},
    turns?: ReaderTurns,
  ) {
    this.#durable = durable;
    this.#note = note;
    this.#turns = turns;
  }

  /** Takes a message of the thread that leads. */
  take(fed: Fed): void {
    if (this.#turns === undefined) this.#takeNow(fed);
    else if (this.#waiting.push(fed) === 1) this.#beginTurn(this.#turns);
  }

  /** G1. */
  #beginTurn(turns: ReaderTurns): void {
    const { timers, clock } = turns;
    timers.soon(() => {
      const endMs = clock.monotonicMs() + feedLimits.turnMs;
      let taken = 0;
      do this.#takeNow(this.#waiting[taken++]!);
      while (taken < this.#waiting.length && clock.monotonicMs() < endMs);
      this.#waiting.splice(0, taken);
      if (this.#waiting.length > 0) this.#beginTurn(turns);
    });
  }

  #takeNow(fed: Fed): void {
    this.#note(bytesOf(fed));
    if (fed.kind === 'batch') this.#takeBatch({ ...fed.batch, bytes: ownCopy(fed.batch.bytes) });
    else if (fed.kind === 'loaded') this.#isLoaded = true;
    else this.#parts.push({ kind: 'snapshot-part', bytes: ownCopy(fed.bytes) });
    this.#wake();
  }

  async *load(): AsyncGenerator<Loaded> {
    for (;;) {
      const part = this.#parts.shift();
      if (part !== undefined) yield part;
      else if (this.#isLoaded) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  subscribe(listen: (event: EngineEvent) => void): () => void {
    this.#tell = listen;
    for (const batch of this.#early.splice(0)) listen({ kind: 'batch', batch });
    return () => {
      this.#tell = undefined;
    };
  }

  end(): number {
    return this.#durable.read();
  }

  append(): Promise<void> {
    return Promise.reject(new Fenced('a reader appends nothing'));
  }

  saveSnapshot(): Promise<void> {
    return Promise.reject(new Fenced('a reader saves nothing'));
  }

  async close(): Promise<void> {}

  #takeBatch(batch: Batch): void {
    if (this.#tell === undefined) this.#early.push(batch);
    else this.#tell({ kind: 'batch', batch });
  }
}

/** Out of the memory that threads share, which not every function of the runtime reads. */
const ownCopy = (bytes: Bytes): Bytes => bytes.slice();
