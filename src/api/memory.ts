/** Lets others keep what the next answer to the same follower needs. */
export class Memory {
  readonly #ends = new Set<() => void>();

  /** Calls `forget` at the end. */
  onEnd(forget: () => void): void {
    this.#ends.add(forget);
  }

  /** Forgets all. It can be filled again. */
  end(): void {
    for (const forget of this.#ends) forget();
    this.#ends.clear();
  }
}
