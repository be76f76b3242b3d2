import { Worker } from 'node:worker_threads';
import type { Bytes } from '../codec.ts';
import { DataDirectoryUnusable, Fenced } from '../errors.ts';
import type { Batch, Engine, EngineEvent, Leadership, Loaded } from './engine.ts';
import { sqliteLimits } from './limits.ts';
import { errorOf, type Failure } from './sqlite-errors.ts';
import type { SqliteOptions } from './sqlite-files.ts';

export type { SqliteOptions };

type Request =
  | { readonly kind: 'load' }
  | { readonly kind: 'written-by' }
  | { readonly kind: 'append'; readonly batch: Batch; readonly expectedIndex: number }
  | { readonly kind: 'begin-snapshot'; readonly index: number }
  | { readonly kind: 'add-part'; readonly bytes: Bytes }
  | { readonly kind: 'finish-snapshot' }
  | { readonly kind: 'compact' }
  | { readonly kind: 'close' };

/** A request to the worker. */
export interface Call {
  readonly id: number;
  readonly request: Request;
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The process that holds the data directory leads. */
const leadership: Leadership = { leader: true, epoch: 1 };

/**
 * The embedded store: `state.db` in a data directory, for one process at a time. The database lives
 * in a worker thread (`sqlite-store.ts`). Bytes move between the threads without being copied.
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

  /** Starts its thread in advance, beside other work. It opens nothing yet, and keeps no process alive. */
  prepare(): void {
    this.#startWorker().unref();
  }

  async *load(): AsyncGenerator<Loaded> {
    (this.#worker ?? this.#startWorker()).ref();
    const calls: Promise<unknown>[] = [];
    for (;;) {
      // The worker reads further pieces while this thread uses earlier ones, so that neither thread waits for the other.
      while (calls.length < sqliteLimits.loadsAhead) {
        const call = this.#callWorker({ kind: 'load' });
        call.catch(() => {});
        calls.push(call);
      }
      const loaded = (await calls.shift()) as Loaded[];
      if (loaded.length === 0) return;
      yield* loaded;
    }
  }

  async writtenBy(): Promise<string | undefined> {
    return (await this.#callWorker({ kind: 'written-by' })) as string | undefined;
  }

  async append(batch: Batch, expectedIndex: number, epoch: number): Promise<void> {
    this.#checkLeads(epoch);
    await this.#callWorker({ kind: 'append', batch, expectedIndex }, batch.bytes.buffer);
  }

  async saveSnapshot(index: number, epoch: number, parts: AsyncIterable<Bytes>): Promise<void> {
    this.#checkLeads(epoch);
    await this.#callWorker({ kind: 'begin-snapshot', index });
    for await (const bytes of parts) {
      await this.#callWorker({ kind: 'add-part', bytes }, bytes.buffer);
    }
    await this.#callWorker({ kind: 'finish-snapshot' });
    // In pieces, so that appends get their turns.
    while (await this.#callWorker({ kind: 'compact' }));
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
    const closed = this.#callWorker({ kind: 'close' });
    this.#failed = new DataDirectoryUnusable(this.#options.directory, 'it was closed');
    await closed;
    await ended;
  }

  #startWorker(): Worker {
    // In the published package the worker is a bundle beside this one.
    const name = import.meta.url.endsWith('.ts') ? './sqlite-worker.ts' : './sqlite-worker.js';
    const url = new URL(name, import.meta.url);
    const worker = new Worker(url, { workerData: this.#options, execArgv: [] });
    worker.on('message', (answer: Answer) => this.#settleCall(answer));
    worker.on('error', (error) => this.#failCalls(error));
    worker.on('exit', () => this.#failCalls(new Error('its thread ended')));
    this.#worker = worker;
    return worker;
  }

  #callWorker(request: Request, transfer?: ArrayBuffer): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#failed !== undefined || this.#worker === undefined) {
        return reject(this.#failed ?? new Error('the engine is not open'));
      }
      const id = ++this.#lastCall;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, request } satisfies Call, transfer ? [transfer] : []);
    });
  }

  #settleCall(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('failure' in answer) waiting?.reject(errorOf(answer.failure));
    else waiting?.resolve(answer.value);
  }

  /** Fails every call, since the thread has ended. After `close` that is no failure. */
  #failCalls(cause: unknown): void {
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
