import { type FSWatcher, watch } from 'node:fs';
import { delay, type Timers } from '../base/ports.ts';
import { changeWatchLimits } from './limits.ts';

/** Wakes the reader of a file, or of the files of a directory, when it changes. */
export class ChangeWatch {
  readonly #timers: Timers;
  readonly #signal: AbortSignal;
  #watcher: FSWatcher | undefined;
  #dirty = false;
  #wake: () => void = () => {};
  #quietMs = 0;

  constructor(path: string, timers: Timers, signal: AbortSignal) {
    this.#timers = timers;
    this.#signal = signal;
    this.turnTo(path);
  }

  /** Watches another file from now on. */
  turnTo(path: string): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      const watcher = watch(path, { persistent: false }, () => this.note());
      watcher.on('error', () => watcher.close());
      this.#watcher = watcher;
    } catch {
      // The file is missing, or the system has no more watches: polling remains.
    }
  }

  /** Wakes the reader for another reason than a changed file. */
  note(): void {
    this.#dirty = true;
    this.#wake();
  }

  /** Waits for a change, at most until the next poll. `false` after a long quiet time. */
  async wait(): Promise<boolean> {
    if (!this.#dirty) {
      const changed = new AbortController();
      this.#wake = () => changed.abort();
      const signal = AbortSignal.any([changed.signal, this.#signal]);
      await delay(this.#timers, changeWatchLimits.pollIntervalMs, signal);
    }
    this.#quietMs = this.#dirty ? 0 : this.#quietMs + changeWatchLimits.pollIntervalMs;
    this.#dirty = false;
    if (this.#quietMs < changeWatchLimits.quietIntervalMs) return true;
    this.#quietMs = 0;
    return false;
  }

  close(): void {
    this.#watcher?.close();
  }
}
