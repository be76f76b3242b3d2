/** The server's disk: what it does wrong, and a fingerprint of all that was ever written on it. */
import type { Hash } from 'node:crypto';
import type { World } from '../src/base/ports.ts';
import type { Bytes } from '../src/state/codec.ts';
import type { Batch, Engine, EngineEvent, Leadership, Loaded } from '../src/state/engine/engine.ts';
import { MemoryDisk, MemoryEngine } from '../src/state/engine/memory.ts';
import { openState } from '../src/state/state.ts';
import { allTables } from '../src/state/tables.ts';
import type { State } from '../src/state/types.ts';

/** Small, so that a life of an hour sees dozens of snapshots, each in many parts. */
export const stateLimits = {
  logBytes: 1024 * 1024,
  logPerSnapshot: 1,
  snapshotPartBytes: 128 * 1024,
};

export class SimulatedDisk extends MemoryDisk {
  /** How long each part takes to read when the server starts. */
  loadDelayMs = 1;
  readonly #written: Hash;

  constructor(written: Hash) {
    super();
    this.#written = written;
  }

  /** `report`: told of what went wrong and harms nothing. */
  open({ timers }: Pick<World, 'timers'>, report: (error: unknown) => void): Promise<State> {
    const engine = new WatchedEngine(new MemoryEngine(this, timers), {
      written: (bytes) => this.#written.update(bytes),
      pause: () => new Promise((go) => timers.after(this.loadDelayMs, go)),
    });
    return openState({ tables: allTables, engine, timers, limits: stateLimits, report });
  }
}

interface Watcher {
  /** These bytes are durable. */
  readonly written: (bytes: Bytes) => void;
  /** Between two parts that are read. */
  readonly pause: () => Promise<void>;
}

class WatchedEngine implements Engine {
  readonly #engine: Engine;
  readonly #watcher: Watcher;

  constructor(engine: Engine, watcher: Watcher) {
    this.#engine = engine;
    this.#watcher = watcher;
  }

  get leadership(): Leadership {
    return this.#engine.leadership;
  }

  async *load(): AsyncGenerator<Loaded> {
    let read = 0;
    for await (const loaded of this.#engine.load()) {
      // A batch is small, and hundreds are read at a time.
      if (read++ % 256 === 0) await this.#watcher.pause();
      yield loaded;
    }
  }

  async append(batch: Batch, expectedIndex: number, epoch: number): Promise<void> {
    await this.#engine.append(batch, expectedIndex, epoch);
    this.#watcher.written(batch.bytes);
  }

  saveSnapshot(index: number, epoch: number, parts: AsyncIterable<Bytes>): Promise<void> {
    return this.#engine.saveSnapshot(index, epoch, parts);
  }

  subscribe(listen: (event: EngineEvent) => void): () => void {
    return this.#engine.subscribe(listen);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
