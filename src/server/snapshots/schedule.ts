import type { Timer } from '../../base/ports.ts';
import { unhurriedPause } from '../../base/slices.ts';
import { framesIn } from '../../model/snapshot/snapshot-file.ts';
import { isSnapshotName, savedMsIn, snapshotName } from '../../model/snapshot/snapshot-header.ts';
import type { ServerContext } from '../context.ts';
import type { SnapshotSaver } from './save.ts';

/** Where snapshots are kept. */
export interface SnapshotStore {
  /** Names of all files. */
  list(): Promise<readonly string[]>;
  /** Makes a file durable under its name, once it is complete. */
  write(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  read(name: string): AsyncIterable<Uint8Array>;
  remove(name: string): Promise<void>;
}

export interface SnapshotScheduleSettings {
  readonly store: SnapshotStore;
  readonly intervalMs: number;
  /** The number of snapshots that are kept. */
  readonly keep: number;
}

/**
 * Saves snapshots from time to time, while this server leads.
 *
 * Invariants
 *  T1. The time of the next snapshot follows from the files that are there, so a new leader or a restart
 *      neither skips a snapshot nor saves one too many.
 *  T2. A snapshot counts once it was read back whole. Only then older ones are removed, and none but files
 *      that have the name of a snapshot.
 *  T3. A failure is told in the log and the metrics, removes nothing, and is tried again after the interval.
 */
export class SnapshotSchedule {
  readonly #context: Pick<ServerContext, 'state' | 'world' | 'log'>;
  readonly #saver: SnapshotSaver;
  readonly #settings: SnapshotScheduleSettings;
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  #failures = 0;
  #savedMs = 0;

  constructor(
    context: Pick<ServerContext, 'state' | 'world' | 'log'>,
    saver: SnapshotSaver,
    settings: SnapshotScheduleSettings,
  ) {
    this.#context = context;
    this.#saver = saver;
    this.#settings = settings;
  }

  /** Snapshots that failed in this term. */
  get failures(): number {
    return this.#failures;
  }

  get intervalMs(): number {
    return this.#settings.intervalMs;
  }

  /** When the newest snapshot was saved; 0: none is known. */
  get savedMs(): number {
    return this.#savedMs;
  }

  start(): void {
    void this.#begin();
  }

  stop(): void {
    this.#stop.abort();
    this.#timer?.clear();
  }

  async #begin(): Promise<void> {
    try {
      const newest = (await this.#names()).at(-1);
      if (newest !== undefined) this.#savedMs = savedMsIn(newest);
    } catch (error) {
      this.#noteFailure(error);
    }
    const { clock } = this.#context.world;
    const dueMs = this.#savedMs === 0 ? 0 : this.#savedMs + this.#settings.intervalMs;
    this.#saveAfter(Math.min(Math.max(dueMs - clock.nowMs(), 0), this.#settings.intervalMs));
  }

  #saveAfter(delayMs: number): void {
    if (this.#stop.signal.aborted) return;
    this.#timer = this.#context.world.timers.after(delayMs, () => void this.#saveSnapshot());
  }

  async #saveSnapshot(): Promise<void> {
    try {
      await this.#saveAndKeep();
    } catch (error) {
      this.#noteFailure(error);
    }
    this.#saveAfter(this.#settings.intervalMs);
  }

  async #saveAndKeep(): Promise<void> {
    const { store, keep } = this.#settings;
    const { signal } = this.#stop;
    const { header, pieces } = this.#saver.begin(signal);
    const name = snapshotName(header);
    await store.write(name, this.#wholePieces(pieces));
    try {
      await this.#readBack(name);
    } catch (error) {
      await store.remove(name);
      throw error;
    }
    this.#savedMs = savedMsIn(name);
    for (const old of (await this.#names()).slice(0, -keep)) await store.remove(old);
    const { log } = this.#context;
    log.info({ file: name, index: header.Index }, 'a snapshot was saved');
  }

  /** A snapshot that is given up ends early: it must not count. */
  async *#wholePieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* pieces;
    if (this.#stop.signal.aborted) throw new Error('this server leads no more');
  }

  /** T2. */
  async #readBack(name: string): Promise<void> {
    const { timers } = this.#context.world;
    for await (const _ of framesIn(this.#settings.store.read(name))) await unhurriedPause(timers);
  }

  /** The names of the snapshots that are there, the oldest first. */
  async #names(): Promise<readonly string[]> {
    return (await this.#settings.store.list()).filter(isSnapshotName).sort();
  }

  #noteFailure(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#failures++;
    this.#context.log.error({ error }, 'a snapshot on schedule failed');
  }
}
