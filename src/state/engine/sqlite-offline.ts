import { existsSync } from 'node:fs';
import type { Loaded } from './engine.ts';
import type { Filling, OfflineStore, Seal, Standing } from './offline.ts';
import { filesIn } from './sqlite-files.ts';
import { SqliteStore } from './sqlite-store.ts';

/** The embedded store of a data directory, on the calling thread. As long as it is open it is locked. */
export class SqliteOffline implements OfflineStore {
  readonly name: string;
  readonly #directory: string;
  #store: SqliteStore | undefined;

  constructor(directory: string) {
    this.#directory = directory;
    this.name = `the data directory ${directory}`;
  }

  async open(): Promise<Standing> {
    if (!existsSync(filesIn(this.#directory).database)) return { mark: undefined, isEmpty: true };
    return this.#openStore().standing();
  }

  async *load(): AsyncGenerator<Loaded> {
    // A store is loaded once.
    this.#store?.close();
    this.#store = undefined;
    const store = this.#openStore();
    for (;;) {
      const loaded = store.loadNext();
      if (loaded.length === 0) return;
      yield* loaded;
    }
  }

  async fill({ index, parts, from }: Filling): Promise<void> {
    const store = this.#openStore();
    store.standing();
    store.empty({ kind: 'unfinished', from });
    store.beginSnapshot(index);
    for await (const part of parts()) store.addPart(part);
    store.finishSnapshot();
  }

  async complete(): Promise<void> {
    this.#openStore().mark(undefined);
  }

  async seal(seal: Seal): Promise<void> {
    this.#openStore().mark({ kind: 'moved', ...seal });
  }

  async close(): Promise<void> {
    this.#store?.close();
    this.#store = undefined;
  }

  #openStore(): SqliteStore {
    this.#store ??= new SqliteStore({ directory: this.#directory, readsMarked: true });
    return this.#store;
  }
}
