import { limits } from '../../model/limits.ts';

/**
 * Writes that are under way at the same time, so that they become durable together. The first
 * failure is thrown to the next caller.
 */
export class Window {
  readonly #underWay = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** Starts the write as soon as there is room. */
  async add(write: () => Promise<void>): Promise<void> {
    while (this.#underWay.size >= limits.garbage.writesMax) await Promise.race(this.#underWay);
    this.#throwFailure();
    const done = write()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  /** Resolves when all writes have ended. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
