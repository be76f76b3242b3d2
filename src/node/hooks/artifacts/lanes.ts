/** Lets a few callers work at a time; the others wait, in order. */
export class Lanes {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Rejects when the signal ends the wait. */
  async through<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enterLane(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  async #enterLane(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const turn = Promise.withResolvers<void>();
    const leave = (): void => {
      const at = this.#waiting.indexOf(turn.resolve);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      turn.reject(signal.reason);
    };
    this.#waiting.push(turn.resolve);
    signal.addEventListener('abort', leave, { once: true });
    await turn.promise.finally(() => signal.removeEventListener('abort', leave));
  }
}
