/** Parts that are open. They are closed in reverse order. */
export class Opened {
  readonly #closings: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closings.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closings.splice(0).reverse()) await close();
  }
}
