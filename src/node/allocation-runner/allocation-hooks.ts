import type { AllocationHook, Unready } from '../hooks/hook.ts';

export class AllocationHooks {
  readonly #hooks: readonly AllocationHook[];
  readonly #over = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(hooks: readonly AllocationHook[]) {
    this.#hooks = hooks;
  }

  get isEmpty(): boolean {
    return this.#hooks.length === 0;
  }

  /** Rejects with the first failure, unless the allocation ends before. */
  async beforeStart(): Promise<void> {
    const { signal } = this.#over;
    for (const hook of this.#hooks) {
      if (signal.aborted) return;
      try {
        await hook.beforeStart?.(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  updated(): void {
    for (const hook of this.#hooks) hook.updated?.();
  }

  changed(): void {
    for (const hook of this.#hooks) hook.changed?.();
  }

  unready(): readonly Unready[] {
    return this.#hooks.flatMap((hook) => hook.unready?.() ?? []);
  }

  async ending(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#hooks.map((hook) => hook.ending?.()));
  }

  /** The second call and later ones wait for the first. */
  close(options: { readonly isDone: boolean }): Promise<void> {
    this.#over.abort();
    this.#closed ??= this.#close(options);
    return this.#closed;
  }

  async #close(options: { readonly isDone: boolean }): Promise<void> {
    await Promise.all(this.#hooks.map((hook) => hook.close?.(options)));
  }
}
