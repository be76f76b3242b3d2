/**
 * Directories of allocations and tasks, and files of records, that are made at rest, as a file system takes longest for what
 * is new. A start then renames a whole tree instead of making ten directories.
 *
 * Invariants
 *  S1. A spare is whole before it can be taken, and is taken once: a rename gives it its place and its name.
 *  S2. Nobody but the agent reaches a spare, as the directory above is closed: no task has written in it.
 *  S3. Spares are made while nothing starts, one after the other, and not while the agent ends.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Timer, Timers } from '../base/ports.ts';
import { makeAllocationDirectories, makeOwnDirectories, placesIn } from './directories.ts';
import { spareLimits } from './limits.ts';

const kinds = ['record', 'allocation', 'task'] as const;
type Kind = (typeof kinds)[number];

export class Spares {
  readonly #directory: string;
  readonly #timers: Timers;
  readonly #ready: Readonly<Record<Kind, string[]>> = {
    record: [],
    allocation: [],
    task: [],
  };
  /** As many as starts have made themselves so far, within bounds. */
  readonly #wanted: Record<Kind, number> = { record: 0, allocation: 0, task: 0 };
  #made = 0;
  #rest: Timer | undefined;
  #filling: Promise<void> | undefined;
  #isOpen = false;
  #isClosed = false;

  constructor(dataDirectory: string, timers: Timers) {
    this.#directory = join(dataDirectory, 'spare');
    this.#timers = timers;
  }

  /** The path of an empty file, which the caller renames. `undefined`: there is none. */
  takeFile(): string | undefined {
    this.#fillAtRest();
    const spare = this.#ready.record.pop();
    if (spare === undefined) this.noteMissing('record');
    return spare;
  }

  /** Gives spare directories this path. `false`: there are none, or the path is taken. */
  async take(kind: Exclude<Kind, 'record'>, path: string): Promise<boolean> {
    this.#fillAtRest();
    const spare = this.#ready[kind].pop();
    if (spare === undefined) return false;
    try {
      await rename(spare, path);
      return true;
    } catch {
      this.#ready[kind].push(spare);
      return false;
    }
  }

  /** A start had to make such a thing itself. */
  noteMissing(kind: Kind): void {
    this.#wanted[kind] = Math.min(this.#wanted[kind] + 1, spareLimits.keptMax);
  }

  /** Ends the making of spares. The next agent removes the spares that are left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rest?.clear();
    await this.settled();
  }

  /** Resolves when none is being made. */
  async settled(): Promise<void> {
    await this.#filling;
  }

  #fillAtRest(): void {
    this.#rest?.clear();
    if (this.#isClosed) return;
    this.#rest = this.#timers.after(spareLimits.restMs, () => {
      this.#rest = undefined;
      this.#filling ??= this.#makeSpares()
        // On a full disk, say, starts make all themselves.
        .catch(() => {})
        .finally(() => {
          this.#filling = undefined;
        });
    });
  }

  /** S3. */
  async #makeSpares(): Promise<void> {
    await this.#open();
    for (const kind of kinds) {
      while (this.#ready[kind].length < this.#wanted[kind]) {
        if (this.#rest !== undefined || this.#isClosed) return;
        const path = join(this.#directory, String(this.#made++));
        await make[kind](path);
        this.#ready[kind].push(path);
      }
    }
  }

  /** Removes what an earlier agent left. */
  async #open(): Promise<void> {
    if (!this.#isOpen) await rm(this.#directory, { recursive: true, force: true });
    this.#isOpen = true;
    await mkdir(this.#directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** S1. */
const make: Readonly<Record<Kind, (path: string) => Promise<unknown>>> = {
  record: (path) => writeFile(path, '', { mode: 0o600, flag: 'wx' }),
  allocation: (path) => makeAllocationDirectories(placesIn(path)),
  task: (path) => makeOwnDirectories(path, undefined),
};
