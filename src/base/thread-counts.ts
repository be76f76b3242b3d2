/** Not in limits: the places of the counts. */
const places = { taken: 0, answered: 1 } as const;

/** Counts that a thread shares with the thread that has started it. */
export class ThreadCounts {
  readonly memory: SharedArrayBuffer;
  readonly #counts: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#counts = new BigInt64Array(memory);
  }

  /** Bytes that the thread has taken. */
  get taken(): number {
    return Number(Atomics.load(this.#counts, places.taken));
  }

  noteTaken(bytes: number): void {
    Atomics.add(this.#counts, places.taken, BigInt(bytes));
  }

  /** Questions of a watch (`thread-watch.ts`) that the thread has answered. */
  get answered(): number {
    return Number(Atomics.load(this.#counts, places.answered));
  }

  noteAnswer(): void {
    Atomics.add(this.#counts, places.answered, 1n);
  }
}
