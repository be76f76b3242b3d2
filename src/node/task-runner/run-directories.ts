import { filesOnDisk } from '../allocation-runner/files.ts';
import type { SystemUser } from '../system-user.ts';
import { ownerOnHost, type TaskContext } from './task-context.ts';

/** The directories of a task. A hook of its allocation may need them before the first run. */
export class RunDirectories {
  readonly #context: TaskContext;
  /** They have been made for the agent's user, and no run has begun since: nobody can have changed them. */
  #areFresh = false;

  constructor(context: TaskContext) {
    this.#context = context;
  }

  /** Makes them before a run is begun. Resolves with whether the task had no directory. */
  async makeAhead(owner: SystemUser | undefined): Promise<boolean> {
    const isNew = await this.#makeDirectories(owner);
    this.#areFresh = owner === undefined;
    return isNew;
  }

  /** To be called before the hooks of each run. */
  async make(): Promise<void> {
    const owner = ownerOnHost(this.#context);
    const areMade = this.#areFresh && owner === undefined;
    this.#areFresh = false;
    if (!areMade) await this.#makeDirectories(owner);
  }

  #makeDirectories(owner: SystemUser | undefined): Promise<boolean> {
    const { files = filesOnDisk, directories } = this.#context;
    return files.makeTaskDirectories(directories, owner);
  }
}
