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
 * Keeps a copy of the state on this machine where the engine takes one: at once if the process was not loaded
 * from a copy, some time after a change, at the end unless the state is large, and when the engine cannot go on.
 *
 * A copy that fails does no harm, as the log has everything.
 */
export class Copies {
  readonly #options: SnapshotsOptions;
  /** Size of the copy; `undefined`: there is none. */
  #copyBytes: number | undefined;
  /** The newest state, unless it is copied. */
  #newest: CopyableState | undefined;
  #aging: Timer | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: SnapshotsOptions, stored: StoredBytes) {
    this.#options = options;
    if (options.engine.isFromCopy === true) this.#copyBytes = stored.snapshot;
  }

  /** Notes a newer state. */
  moved({ view, hash }: CopyableState): void {
    if (this.#options.engine.keepCopy === undefined || this.#stopped) return;
    this.#newest = { view, hash };
    if (this.#copyBytes === undefined) this.#copyNewest();
    else this.#copyLater();
  }

  /** Keeps the last state that the process will have, whatever ends meanwhile. */
  keepLast({ view, hash }: CopyableState): void {
    if (this.#stopped || this.#options.engine.keepCopy === undefined) return;
    const before = this.#running ?? Promise.resolve();
    this.#stopped = true;
    this.#running = before.then(() => this.#keepCopy({ view, hash }, true));
  }

  /** Keeps the newest state unless it is large. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#aging?.clear();
    const isSmall = (this.#copyBytes ?? 0) < this.#options.limits.logBytes;
    if (this.#newest !== undefined && isSmall) this.keepLast(this.#newest);
    this.#stopped = true;
    await this.#running;
  }

  #copyLater(): void {
    if (this.#newest === undefined || this.#stopped) return;
    const { limits, timers } = this.#options;
    const { copyAgeMs, copyBytesPerSecond } = limits;
    const ageMs = Math.max(copyAgeMs, ((this.#copyBytes ?? 0) / copyBytesPerSecond) * secondMs);
    this.#aging ??= timers.after(ageMs, () => {
      this.#aging = undefined;
      this.#copyNewest();
    });
  }

  #copyNewest(): void {
    const newest = this.#newest;
    if (newest === undefined || this.#running !== undefined || this.#stopped) return;
    this.#newest = undefined;
    this.#running = this.#keepCopy(newest, false);
  }

  async #keepCopy({ view, hash = noBatch }: CopyableState, isLast: boolean): Promise<void> {
    const { engine, limits, report } = this.#options;
    let bytes = 0;
    const parts = slicesOf({ view, hash }, this.#options, (part) => {
      const isGivenUp = this.#stopped && !isLast && bytes > limits.logBytes;
      if (isGivenUp) throw new Error('the state is closing');
      bytes += part?.byteLength ?? 0;
    });
    try {
      await engine.keepCopy!({ index: view.index, hash }, parts);
      this.#copyBytes = bytes;
    } catch (error) {
      this.#copyBytes ??= bytes;
      if (!this.#stopped) report(error);
    } finally {
      this.#running = undefined;
      this.#copyLater();
    }
  }
}
