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
 * The next copy is expected to be as large as the last copy and the log since then together.
 *
 * A copy that fails does no harm, as the log has everything.
 */
export class Copies {
  readonly #options: SnapshotsOptions;
  /** Size of the copy; `undefined`: there is none. */
  #copyBytes: number | undefined;
  /** Growth of the log since the state that was copied last. */
  #grownBytes = 0;
  /** The newest state, unless it is copied. */
  #newest: CopyableState | undefined;
  #aging: Timer | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: SnapshotsOptions, stored: StoredBytes) {
    this.#options = options;
    if (options.engine.isFromCopy !== true) return;
    this.#copyBytes = stored.snapshot;
    this.#grownBytes = stored.log;
  }

  /** Notes a newer state, after a batch of the given size. */
  moved(bytes: number, { view, hash }: CopyableState): void {
    if (this.#options.engine.keepCopy === undefined || this.#stopped) return;
    this.#newest = { view, hash };
    this.#grownBytes += bytes;
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
    const isSmall = this.#nextBytes < this.#options.limits.logBytes;
    if (this.#newest !== undefined && isSmall) this.keepLast(this.#newest);
    this.#stopped = true;
    await this.#running;
  }

  get #nextBytes(): number {
    return (this.#copyBytes ?? 0) + this.#grownBytes;
  }

  /** The age at which a change is copied. */
  get #ageMs(): number {
    const { copyAgeMs, copyBytesPerSecond, copyGrowingMs } = this.#options.limits;
    const timeOf = (bytes: number) => (bytes / copyBytesPerSecond) * secondMs;
    const growingMs = Math.min(timeOf(this.#nextBytes), copyGrowingMs);
    return Math.max(copyAgeMs, timeOf(this.#copyBytes ?? 0), growingMs);
  }

  /** `agedMs`: the time that the change has waited. */
  #copyLater(agedMs = 0): void {
    if (this.#newest === undefined || this.#stopped || this.#aging !== undefined) return;
    const ageMs = this.#ageMs;
    this.#aging = this.#options.timers.after(ageMs - agedMs, () => {
      this.#aging = undefined;
      // The state has grown meanwhile.
      if (this.#ageMs > ageMs) this.#copyLater(ageMs);
      else this.#copyNewest();
    });
  }

  #copyNewest(): void {
    const newest = this.#newest;
    if (newest === undefined || this.#running !== undefined || this.#stopped) return;
    this.#newest = undefined;
    this.#grownBytes = 0;
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
