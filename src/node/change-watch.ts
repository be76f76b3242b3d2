import { type FSWatcher, watch } from 'node:fs';
import { delay, type Timers } from '../base/ports.ts';

/** The watch may miss a change (some file systems have none): look this often in any case. */
const pollIntervalMs = 500;
const quietIntervalMs = 10_000;

/** Wakes whoever follows a file, or the files of a directory, when something in it changes. */
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

  /** From now on it is another file. */
  turnTo(path: string): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      const watcher = watch(path, { persistent: false }, () => this.note());
      watcher.on('error', () => watcher.close());
      this.#watcher = watcher;
    } catch {
      // No such file yet, or no more watches: polling remains.
    }
  }

  /** Something changed that is no change of a file. */
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
      await delay(this.#timers, pollIntervalMs, signal);
    }
    this.#quietMs = this.#dirty ? 0 : this.#quietMs + pollIntervalMs;
    this.#dirty = false;
    if (this.#quietMs < quietIntervalMs) return true;
    this.#quietMs = 0;
    return false;
  }

  close(): void {
    this.#watcher?.close();
  }
}
