import type { Timers } from '../base/ports.ts';
import { unhurriedPause } from '../base/slices.ts';
import { type Bytes, encodeSnapshot } from './codec.ts';
import type { Engine } from './engine/engine.ts';
import type { StateLimits } from './limits.ts';
import type { View } from './view.ts';

interface SnapshotsOptions {
  readonly engine: Engine;
  readonly timers: Timers;
  readonly limits: StateLimits;
  /** Takes the error of a failed snapshot. */
  readonly report: (error: unknown) => void;
}

/** Sizes of the stored snapshot and log. */
export interface StoredBytes {
  readonly snapshot: number;
  readonly log: number;
}

/** The durable state after an append. */
export interface Reached {
  readonly view: View;
  /** Hash of its last batch, if hashes are kept. */
  readonly hash: string | undefined;
  readonly epoch: number;
}

/**
 * Writes a snapshot when the log has grown too long, in slices between other work.
 *
 * A failed snapshot does no harm, as the log is still whole. The next attempt comes when the log has
 * grown as much again.
 */
export class Snapshots {
  readonly #engine: Engine;
  readonly #timers: Timers;
  readonly #limits: StateLimits;
  readonly #report: (error: unknown) => void;
  #snapshotBytes: number;
  #logBytes: number;
  #failedAtBytes = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor({ engine, timers, limits, report }: SnapshotsOptions, stored: StoredBytes) {
    this.#engine = engine;
    this.#timers = timers;
    this.#limits = limits;
    this.#snapshotBytes = stored.snapshot;
    this.#logBytes = stored.log;
    this.#report = report;
  }

  /** Notes a batch of so many bytes by another process, which saves the snapshots. */
  followed(bytes: number): void {
    this.#logBytes += bytes;
  }

  /** Notes an append of so many bytes in a term, and the state after it. */
  grew(bytes: number, reached: Reached): void {
    this.#logBytes += bytes;
    const { logBytes, logPerSnapshot } = this.#limits;
    const threshold = Math.max(logBytes, logPerSnapshot * this.#snapshotBytes);
    const due = this.#logBytes - this.#failedAtBytes > threshold;
    if (due && this.#running === undefined && !this.#stopped) {
      this.#running = this.#saveSnapshot(reached);
    }
  }

  /** Notes a restore of so many bytes. A snapshot soon takes its place in the log. */
  restored(bytes: number, reached: Reached): void {
    this.#logBytes += bytes;
    if (this.#running === undefined && !this.#stopped) this.#running = this.#saveSnapshot(reached);
  }

  /** Gives up the snapshot under way. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #saveSnapshot({ view, hash, epoch }: Reached): Promise<void> {
    const coveredBytes = this.#logBytes;
    let bytes = 0;
    try {
      await this.#engine.saveSnapshot(
        view.index,
        epoch,
        this.#slices({ view, hash }, (length) => {
          bytes += length;
        }),
      );
      this.#snapshotBytes = bytes;
      this.#logBytes -= coveredBytes;
      this.#failedAtBytes = 0;
    } catch (error) {
      this.#failedAtBytes = this.#logBytes;
      if (!this.#stopped) this.#report(error);
    } finally {
      this.#running = undefined;
    }
  }

  async *#slices(
    { view, hash }: Pick<Reached, 'view' | 'hash'>,
    count: (bytes: number) => void,
  ): AsyncGenerator<Bytes> {
    for (const part of encodeSnapshot(view, this.#limits.snapshotPartBytes, hash)) {
      if (this.#stopped) throw new Error('the state is closing');
      if (part !== undefined) {
        count(part.byteLength);
        yield part;
      }
      await unhurriedPause(this.#timers);
    }
  }
}
