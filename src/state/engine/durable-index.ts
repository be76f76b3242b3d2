/** The index of the newest durable transaction, in memory that threads share. It only grows. */
export class DurableIndex {
  readonly memory: SharedArrayBuffer;
  readonly #cell: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#cell = new BigInt64Array(memory);
  }

  read(): number {
    return Number(Atomics.load(this.#cell, 0));
  }

  move(index: number): void {
    Atomics.store(this.#cell, 0, BigInt(index));
  }
}
