import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bytes } from '../codec.ts';
import type { Batch, Engine, Loaded } from './engine.ts';
import type { SqliteOptions } from './sqlite-files.ts';
import { SqliteStore } from './sqlite-store.ts';

/** The store on the calling thread, for tests that open it hundreds of times. */
export class SameThreadEngine implements Engine {
  readonly leadership = { leader: true, epoch: 1 };
  readonly options: SqliteOptions;
  #store: SqliteStore | undefined;
  /** Snapshots that it has begun, and taken. */
  begun = 0;
  snapshots = 0;

  constructor(options: SqliteOptions) {
    this.options = options;
  }

  async *load(): AsyncGenerator<Loaded> {
    this.#store = new SqliteStore(this.options);
    for (;;) {
      const loaded = this.#store.loadNext();
      if (loaded.length === 0) return;
      yield* loaded;
    }
  }

  async append(batch: Batch, expectedIndex: number): Promise<void> {
    this.#store!.append(batch, expectedIndex);
  }

  async saveSnapshot(index: number, _epoch: number, parts: AsyncIterable<Bytes>): Promise<void> {
    this.begun++;
    this.#store!.beginSnapshot(index);
    for await (const bytes of parts) this.#store!.addPart(bytes);
    this.#store!.finishSnapshot();
    while (this.#store!.compact());
    this.snapshots++;
  }

  subscribe(): () => void {
    return () => {};
  }

  async close(): Promise<void> {
    this.#store?.close();
  }
}

/** New directories until {@link Scratch.end} removes them. */
export class Scratch {
  readonly #root = mkdtempSync(join(tmpdir(), 'roster-state-'));
  #count = 0;

  next(): string {
    return join(this.#root, String(++this.#count));
  }

  /** A copy of the directory as a crash at this moment would leave it. */
  copyOf(directory: string): string {
    const copy = this.next();
    cpSync(directory, copy, { recursive: true });
    return copy;
  }

  end(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

export function filesOf(directory: string): string[] {
  return readdirSync(directory).sort();
}
