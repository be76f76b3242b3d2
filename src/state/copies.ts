import type { Timer } from '../base/ports.ts';
import { secondMs } from '../base/units.ts';
import { noBatch } from './batch-hash.ts';
import {
  type CopyableState,
  type SnapshotsOptions,
  type StoredBytes,
  slicesOf,
} from './snapshot-slices.ts';

/**
 * Keeps a copy of the state on this machine where the engine takes one: when the process was not loaded from
 * a copy, when the log has grown too long since the last copy, some time after a change, at the end unless the
 * state is large, and when the engine cannot go on.
 *
 * A copy that fails does no harm, as the log has everything.
 */
export class Copies {
  readonly #options: SnapshotsOptions;
  #copyBytes: number;
  /** Of the log since the copy. */
  #logBytes: number;
  /** The newest state, unless it is copied. */
  #newest: CopyableState | undefined;
  #aging: Timer | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: SnapshotsOptions, stored: StoredBytes) {
    this.#options = options;
    this.#copyBytes = stored.snapshot;
    this.#logBytes = options.engine.isFromCopy === true ? stored.log : Number.POSITIVE_INFINITY;
  }

  /** Notes so many bytes of the log, and the state after them. */
  grew(bytes: number, { view, hash }: CopyableState): void {
    const { engine, limits } = this.#options;
    if (engine.keepCopy === undefined || this.#stopped) return;
    this.#logBytes += bytes;
    this.#newest = { view, hash };
    const { logBytes, logPerSnapshot } = limits;
    if (this.#logBytes > Math.max(logBytes, logPerSnapshot * this.#copyBytes)) this.#copyNewest();
    else this.#copyLater();
  }

  /** Keeps the last state that the process will have, whatever ends meanwhile. */
  keepLast({ view, hash }: CopyableState): void {
    if (this.#stopped || this.#options.engine.keepCopy === undefined) return;
    const before = this.#running ?? Promise.resolve();
    this.#stopped = true;
    this.#running = before.then(() => this.#keepCopy({ view, hash }, () => false));
  }

  /** Gives up the copy under way, unless it is the last one or small. Resolves when all has ended. */
  async stop(): Promise<void> {
    this.#aging?.clear();
    if (this.#newest !== undefined && this.#copyBytes < this.#options.limits.logBytes) {
      this.keepLast(this.#newest);
    }
    this.#stopped = true;
    await this.#running;
  }

  #copyLater(): void {
    if (this.#newest === undefined || this.#stopped) return;
    const { limits, timers } = this.#options;
    const { copyAgeMs, copyBytesPerSecond } = limits;
    const ageMs = Math.max(copyAgeMs, (this.#copyBytes / copyBytesPerSecond) * secondMs);
    this.#aging ??= timers.after(ageMs, () => {
      this.#aging = undefined;
      this.#copyNewest();
    });
  }

  #copyNewest(): void {
    const newest = this.#newest;
    if (newest === undefined || this.#running !== undefined || this.#stopped) return;
    this.#newest = undefined;
    this.#running = this.#keepCopy(newest, () => this.#stopped);
  }

  async #keepCopy(
    { view, hash = noBatch }: CopyableState,
    isGivenUp: () => boolean,
  ): Promise<void> {
    const { engine, report } = this.#options;
    this.#logBytes = 0;
    let bytes = 0;
    const parts = slicesOf({ view, hash }, this.#options, (part) => {
      if (isGivenUp()) throw new Error('the state is closing');
      bytes += part?.byteLength ?? 0;
    });
    try {
      await engine.keepCopy!({ index: view.index, hash }, parts);
      this.#copyBytes = bytes;
    } catch (error) {
      if (!this.#stopped) report(error);
    } finally {
      this.#running = undefined;
      this.#copyLater();
    }
  }
}
