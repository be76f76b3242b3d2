import { limits } from '../../model/limits.ts';

/**
 * Writes that are under way at the same time, so that they become durable together. Nobody's failure
 * is lost: the first one is thrown to whoever comes next.
 */
export class Window {
  readonly #underWay = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** Begins with it once there is room. */
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

  /** Resolves when all of them are done. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
