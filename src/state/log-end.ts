import type { StateError } from './errors.ts';

interface Question {
  readonly index: number;
  readonly resolve: () => void;
  readonly reject: (error: StateError) => void;
}

/**
 * Tells when a replica shows every transaction that was durable at a moment.
 *
 * Invariants
 *  N1. Each question is answered by a read of the log's end that began after the question.
 *  N2. At most one read is under way, and at most one read waits for it. Questions that come meanwhile
 *      share the waiting read.
 */
export class LogEnd {
  readonly #read: () => Promise<number> | number;
  #applied: number;
  #running: Promise<number> | undefined;
  #next: Promise<number> | undefined;
  #waiting: Question[] = [];
  #stopped: StateError | undefined;

  /** `applied`: the index that the replica shows. */
  constructor(read: () => Promise<number> | number, applied: number) {
    this.#read = read;
    this.#applied = applied;
  }

  /** Resolves when the replica shows every transaction that was durable at the call; `undefined`: it does. */
  reached(): Promise<void> | undefined {
    const index = this.#readEnd();
    const isShown = typeof index === 'number' && index <= this.#applied;
    return isShown && this.#stopped === undefined ? undefined : this.#awaitIndex(index);
  }

  async #awaitIndex(read: Promise<number> | number): Promise<void> {
    const index = await read;
    if (this.#stopped !== undefined) throw this.#stopped;
    if (index <= this.#applied) return;
    await new Promise<void>((resolve, reject) => this.#waiting.push({ index, resolve, reject }));
  }

  /** Notes that the replica has moved to this index. */
  applied(index: number): void {
    this.#applied = index;
    if (this.#waiting.length === 0) return;
    const reached = this.#waiting.filter((question) => question.index <= index);
    this.#waiting = this.#waiting.filter((question) => question.index > index);
    for (const { resolve } of reached) resolve();
  }

  /** Fails every question, since the replica moves no more. */
  stop(reason: StateError): void {
    this.#stopped ??= reason;
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  #readEnd(): Promise<number> | number {
    if (this.#running === undefined) return this.#startRead();
    const again = () => this.#running ?? this.#startRead();
    this.#next ??= this.#running.then(again, again);
    return this.#next;
  }

  #startRead(): Promise<number> | number {
    this.#next = undefined;
    const read = this.#read();
    if (typeof read === 'number') return read;
    const running = read.finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
