import type { AllocationDirectories } from '../directories.ts';
import type { AllocationHook, AllocationHookContext, Unready } from '../hooks/hook.ts';
import type { SystemUser } from '../system-user.ts';
import type { AllocationTasks } from './allocation-tasks.ts';
import type { Specification } from './specification.ts';
import type { AllocationSurroundings } from './surroundings.ts';

export interface HookedAllocation {
  readonly directories: AllocationDirectories;
  readonly specification: Specification;
  readonly tasks: AllocationTasks;
  readonly ownUser: () => SystemUser | undefined;
  /** The allocation's health has to be judged again. */
  readonly changed: () => void;
}

export function newAllocationHooks(
  { world, dataDirectory, allocationHooks, onNotice }: AllocationSurroundings,
  { directories, specification, tasks, ownUser, changed }: HookedAllocation,
): AllocationHooks {
  const { group } = specification;
  if (group === undefined) return new AllocationHooks([]);
  const context: AllocationHookContext = {
    id: specification.allocation.ID,
    world,
    dataDirectory,
    directories,
    onNotice,
    allocation: () => specification.allocation,
    job: () => specification.job,
    group: () => specification.group ?? group,
    states: () => tasks.states,
    ownUser,
    environment: (name) => specification.environment(specification.taskNamed(name), {}),
    controls: (task) => tasks.runners.get(task)?.controls,
    makeTaskDirectories: async (task, owner) =>
      (await tasks.runners.get(task)?.directories.makeAhead(owner)) ?? false,
    changed,
  };
  return new AllocationHooks(allocationHooks.flatMap((make) => make(context) ?? []));
}

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
