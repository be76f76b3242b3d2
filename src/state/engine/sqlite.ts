import { Worker } from 'node:worker_threads';
import type { Bytes } from '../codec.ts';
import { DataDirectoryUnusable, Fenced } from '../errors.ts';
import type { Batch, Engine, EngineEvent, Leadership, Loaded } from './engine.ts';
import { errorOf, type Failure } from './sqlite-errors.ts';
import type { SqliteOptions } from './sqlite-files.ts';

export type { SqliteOptions };

type Request =
  | { readonly kind: 'load' }
  | { readonly kind: 'append'; readonly batch: Batch; readonly expectedIndex: number }
  | { readonly kind: 'begin-snapshot'; readonly index: number }
  | { readonly kind: 'add-part'; readonly bytes: Bytes }
  | { readonly kind: 'finish-snapshot' }
  | { readonly kind: 'compact' }
  | { readonly kind: 'close' };

/** What goes to the worker. */
export interface Call {
  readonly id: number;
  readonly request: Request;
}

/** What comes back. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The one process that holds the data directory leads. */
const leadership: Leadership = { leader: true, epoch: 1 };

/**
 * The embedded store: `state.db` in a data directory, for one process at a time. The database is
 * in a worker thread (`sqlite-store.ts`); the bytes go there and come back without being copied.
 */
export class SqliteEngine implements Engine {
  readonly leadership = leadership;
  readonly #options: SqliteOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  #worker: Worker | undefined;
  #lastCall = 0;
  #failed: Error | undefined;

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  async *load(): AsyncGenerator<Loaded> {
    this.#start();
    let next = this.#call({ kind: 'load' });
    for (;;) {
      const loaded = (await next) as Loaded[];
      if (loaded.length === 0) return;
      // The worker reads on while this thread takes in what came.
      next = this.#call({ kind: 'load' });
      next.catch(() => {});
      yield* loaded;
    }
  }

  async append(batch: Batch, expectedIndex: number, epoch: number): Promise<void> {
    this.#checkLeads(epoch);
    await this.#call({ kind: 'append', batch, expectedIndex }, batch.bytes.buffer);
  }

  async saveSnapshot(index: number, epoch: number, parts: AsyncIterable<Bytes>): Promise<void> {
    this.#checkLeads(epoch);
    await this.#call({ kind: 'begin-snapshot', index });
    for await (const bytes of parts) await this.#call({ kind: 'add-part', bytes }, bytes.buffer);
    await this.#call({ kind: 'finish-snapshot' });
    // Piece by piece: an append that comes meanwhile has its turn between two of them.
    while (await this.#call({ kind: 'compact' }));
  }

  subscribe(listen: (event: EngineEvent) => void): () => void {
    this.#listeners.add(listen);
    return () => {
      this.#listeners.delete(listen);
    };
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined || this.#failed !== undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const closed = this.#call({ kind: 'close' });
    this.#failed = new DataDirectoryUnusable(this.#options.directory, 'it was closed');
    await closed;
    await ended;
  }

  #start(): void {
    // Bundled, the worker is a file beside the bundle.
    const name = import.meta.url.endsWith('.ts') ? './sqlite-worker.ts' : './sqlite-worker.js';
    const url = new URL(name, import.meta.url);
    const worker = new Worker(url, { workerData: this.#options, execArgv: [] });
    worker.on('message', (answer: Answer) => this.#settle(answer));
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('its thread ended')));
    this.#worker = worker;
  }

  #call(request: Request, transfer?: ArrayBuffer): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#failed !== undefined || this.#worker === undefined) {
        return reject(this.#failed ?? new Error('the engine is not open'));
      }
      const id = ++this.#lastCall;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, request } satisfies Call, transfer ? [transfer] : []);
    });
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('failure' in answer) waiting?.reject(errorOf(answer.failure));
    else waiting?.resolve(answer.value);
  }

  /** The thread is gone. After `close` that is as it should be. */
  #fail(cause: unknown): void {
    if (this.#failed !== undefined) return;
    const fault = cause instanceof Error ? cause.message : String(cause);
    const error = new DataDirectoryUnusable(this.#options.directory, fault, cause);
    this.#failed = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    for (const listen of [...this.#listeners]) listen({ kind: 'failed', error });
  }

  #checkLeads(epoch: number): void {
    if (epoch !== leadership.epoch) throw new Fenced(`epoch ${epoch} has passed`);
  }
}
