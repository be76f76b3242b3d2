/** The disk of a server, with its faults and a hash of every written byte. */
import type { Hash } from 'node:crypto';
import type { World } from '../src/base/ports.ts';
import type { Bytes } from '../src/state/codec.ts';
import type {
  Batch,
  Engine,
  EngineEvent,
  Leadership,
  LoadStep,
} from '../src/state/engine/engine.ts';
import { MemoryDisk, MemoryEngine } from '../src/state/engine/memory.ts';
import { openState } from '../src/state/state.ts';
import { allTables } from '../src/state/tables.ts';
import type { State } from '../src/state/types.ts';

/** Small enough that a life of an hour has dozens of snapshots, each in many parts. */
export const stateLimits = {
  logBytes: 1024 * 1024,
  logPerSnapshot: 1,
  snapshotPartBytes: 128 * 1024,
};

export class SimulatedDisk extends MemoryDisk {
  /** Time to read each part when the server starts. */
  loadDelayMs = 1;
  readonly #written: Hash;

  constructor(written: Hash) {
    super();
    this.#written = written;
  }

  /** @param report takes errors that do no harm, such as a failed snapshot */
  open({ timers }: Pick<World, 'timers'>, report: (error: unknown) => void): Promise<State> {
    const engine = new WatchedEngine(new MemoryEngine(this, timers), {
      written: (bytes) => this.#written.update(bytes),
      pause: () => new Promise((go) => timers.after(this.loadDelayMs, go)),
    });
    return openState({ tables: allTables, engine, timers, limits: stateLimits, report });
  }
}

interface Watcher {
  /** The bytes have become durable. */
  readonly written: (bytes: Bytes) => void;
  /** Waits between two parts of a load. */
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

  async *load(): AsyncGenerator<LoadStep> {
    let read = 0;
    for await (const loaded of this.#engine.load()) {
      // Batches are small, so hundreds of them count as a part.
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
