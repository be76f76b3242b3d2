import type { DriverVolume } from '../drivers/driver.ts';
import type { StartedRun, TaskControls, TaskHook } from '../hooks/hook.ts';
import { ownerOnHost, type TaskContext } from './task-context.ts';

/** The hooks of one task, called in their order. Invariants: `hooks/hook.ts`. */
export class TaskHooks {
  readonly controls: TaskControls;
  readonly #hooks: readonly TaskHook[];
  #added: Readonly<Record<string, string>> = {};
  #hasBegun = false;
  #closed: Promise<void> | undefined;

  constructor(context: TaskContext, controls: TaskControls) {
    const { world, driver, directories, allocation, job, task } = context;
    this.controls = controls;
    this.#hooks = context.hooks.flatMap(
      (make) =>
        make({
          ...controls,
          world,
          driver,
          directories,
          allocation,
          job,
          task,
          owner: () => ownerOnHost(context),
          environment: () => context.environment(this.#added),
        }) ?? [],
    );
  }

  /** Resolves with the hooks' variables for the run, or `undefined` when none is to begin. */
  async beforeStart(): Promise<Readonly<Record<string, string>> | undefined> {
    const { over } = this.controls;
    this.#hasBegun = true;
    for (const hook of this.#hooks) {
      const added = await unless(over, hook.beforeStart?.());
      if (over.aborted) return undefined;
      this.#added = { ...this.#added, ...added };
    }
    return this.#added;
  }

  get volumes(): readonly DriverVolume[] {
    return this.#hooks.flatMap((hook) => hook.volumes?.() ?? []);
  }

  started(run: StartedRun): void {
    this.#hasBegun = true;
    for (const hook of this.#hooks) hook.started?.(run);
  }

  async ending(): Promise<void> {
    await Promise.all(this.#hooks.map((hook) => hook.ending?.()));
  }

  async ended(): Promise<void> {
    if (!this.#hasBegun) return;
    this.#hasBegun = false;
    await Promise.all(this.#hooks.map((hook) => hook.ended?.()));
  }

  updated(): void {
    for (const hook of this.#hooks) hook.updated?.();
  }

  close(options: { readonly isDead: boolean }): Promise<void> {
    this.#closed ??= this.#close(options);
    return this.#closed;
  }

  async #close(options: { readonly isDead: boolean }): Promise<void> {
    await Promise.all(this.#hooks.map((hook) => hook.close?.(options)));
  }
}

/** H3: the result of the work, or nothing when the signal comes first. */
async function unless<T>(
  signal: AbortSignal,
  work: Promise<T> | undefined,
): Promise<T | undefined> {
  if (work === undefined || signal.aborted) return undefined;
  const stop = Promise.withResolvers<undefined>();
  const abort = (): void => stop.resolve(undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, stop.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
