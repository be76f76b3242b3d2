import { Copies } from './copies.ts';
import {
  type CopyableState,
  type SnapshotsOptions,
  type StoredBytes,
  slicesOf,
} from './snapshot-slices.ts';

/** The durable state after an append. */
export interface Reached extends CopyableState {
  readonly epoch: number;
}

/**
 * Writes a snapshot when the log has grown too long, in slices between other work.
 *
 * A failed snapshot does no harm, as the log is still whole. The next attempt comes when the log has
 * grown as much again.
 */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #copies: Copies;
  #snapshotBytes: number;
  #logBytes: number;
  #failedAtBytes = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: SnapshotsOptions, stored: StoredBytes) {
    this.#options = options;
    this.#copies = new Copies(options, stored);
    this.#snapshotBytes = stored.snapshot;
    this.#logBytes = stored.log;
  }

  get sizes(): { readonly snapshotBytes: number; readonly logBytes: number } {
    return { snapshotBytes: this.#snapshotBytes, logBytes: this.#logBytes };
  }

  /** Notes a batch of the given size by another process, which saves the snapshots. */
  followed(bytes: number, reached: CopyableState): void {
    this.#logBytes += bytes;
    this.#copies.moved(bytes, reached);
  }

  /** Notes that the engine cannot go on from this state. */
  failed(reached: CopyableState): void {
    this.#copies.keepLast(reached);
  }

  /** Notes an append of the given size in a term, and the state after it. */
  grew(bytes: number, reached: Reached): void {
    this.#logBytes += bytes;
    this.#copies.moved(bytes, reached);
    const due = this.#logBytes - this.#failedAtBytes > this.#logBytesMax;
    if (due && this.#running === undefined && !this.#stopped) {
      this.#running = this.#saveSnapshot(reached);
    }
  }

  get #logBytesMax(): number {
    const { logBytes, logPerSnapshot, longLogBytes, longLogPerSnapshot } = this.#options.limits;
    const longBytes = Math.max(longLogBytes, longLogPerSnapshot * this.#snapshotBytes);
    return Math.max(logBytes, Math.min(logPerSnapshot * this.#snapshotBytes, longBytes));
  }

  /** Notes a restore of the given size. A snapshot soon takes its place in the log. */
  restored(bytes: number, reached: Reached): void {
    this.#logBytes += bytes;
    this.#copies.moved(bytes, reached);
    if (this.#running === undefined && !this.#stopped) this.#running = this.#saveSnapshot(reached);
  }

  /** Gives up the snapshot under way. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await this.#copies.stop();
  }

  async #saveSnapshot({ epoch, ...reached }: Reached): Promise<void> {
    const coveredBytes = this.#logBytes;
    let bytes = 0;
    try {
      await this.#options.engine.saveSnapshot(
        reached.view.index,
        epoch,
        slicesOf(reached, this.#options, (part) => {
          if (this.#stopped) throw new Error('the state is closing');
          bytes += part?.byteLength ?? 0;
        }),
      );
      this.#snapshotBytes = bytes;
      this.#logBytes -= coveredBytes;
      this.#failedAtBytes = 0;
    } catch (error) {
      this.#failedAtBytes = this.#logBytes;
      if (!this.#stopped) this.#options.report(error);
    } finally {
      this.#running = undefined;
    }
  }
}
