import { noBatch } from './batch-hash.ts';
import {
  type CopyableState,
  type SnapshotsOptions,
  type StoredBytes,
  slicesOf,
} from './snapshot-slices.ts';

/**
 * Keeps a copy of the state on this machine where the engine takes one: when the process was not loaded from
 * a copy, when the log has grown too long since the last copy, and when the engine cannot go on.
 *
 * A copy that fails does no harm, as the log has everything.
 */
export class Copies {
  readonly #options: SnapshotsOptions;
  #copyBytes: number;
  /** Of the log since the copy. */
  #logBytes: number;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: SnapshotsOptions, stored: StoredBytes) {
    this.#options = options;
    this.#copyBytes = stored.snapshot;
    this.#logBytes = options.engine.isFromCopy === true ? stored.log : Number.POSITIVE_INFINITY;
  }

  /** Notes so many bytes of the log, and the state after them. */
  grew(bytes: number, reached: CopyableState): void {
    const { engine, limits } = this.#options;
    if (engine.keepCopy === undefined) return;
    this.#logBytes += bytes;
    const { logBytes, logPerSnapshot } = limits;
    const isDue = this.#logBytes > Math.max(logBytes, logPerSnapshot * this.#copyBytes);
    if (isDue && this.#running === undefined && !this.#stopped) {
      this.#running = this.#keepCopy(reached, () => this.#stopped);
    }
  }

  /** Keeps the last state that the process will have, whatever ends meanwhile. */
  keepLast({ view, hash }: CopyableState): void {
    if (this.#stopped || this.#options.engine.keepCopy === undefined) return;
    const before = this.#running ?? Promise.resolve();
    this.#stopped = true;
    this.#running = before.then(() => this.#keepCopy({ view, hash }, () => false));
  }

  /** Gives up the copy under way, unless it is the last one. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
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
    }
  }
}
