import type { ProcessExit, TaskStatus } from './protocol.ts';

/** The tasks of a supervisor as the agent knows them, and those who wait for their exits. */
export class TaskStatuses {
  readonly #statuses = new Map<string, TaskStatus>();
  readonly #exitWaiters = new Map<string, ((exit: ProcessExit) => void)[]>();
  /** Tasks that were ended together with a supervisor of another version. */
  readonly #replaced = new Set<string>();

  get(taskId: string): TaskStatus | undefined {
    return this.#statuses.get(taskId);
  }

  all(): readonly TaskStatus[] {
    return [...this.#statuses.values()];
  }

  note(told: TaskStatus): void {
    const status = this.#replaced.has(told.taskId) ? withLoss(told) : told;
    this.#statuses.set(status.taskId, status);
    if (status.exit === undefined) return;
    const waiters = this.#exitWaiters.get(status.taskId) ?? [];
    this.#exitWaiters.delete(status.taskId);
    for (const resolve of waiters) resolve(status.exit);
  }

  /** Takes over the list of a new supervisor. Tasks that it does not know have ended. */
  synchronize(tasks: readonly TaskStatus[]): void {
    const listed = new Set(tasks.map((task) => task.taskId));
    const lost = 'the supervisor of the task ended unexpectedly';
    for (const status of this.all()) {
      if (listed.has(status.taskId) || status.exit !== undefined) continue;
      this.note({ ...status, exit: { exitCode: 137, signal: 9, timeMs: 0, lost } });
    }
    for (const task of tasks) this.note(task);
  }

  /** These tasks end with their supervisor: their exits are not their own. */
  noteReplaced(tasks: readonly TaskStatus[]): void {
    for (const { taskId, exit } of tasks) if (exit === undefined) this.#replaced.add(taskId);
  }

  exitOf(taskId: string): Promise<ProcessExit> {
    const exit = this.#statuses.get(taskId)?.exit;
    if (exit !== undefined) return Promise.resolve(exit);
    return new Promise((resolve) => {
      const waiters = this.#exitWaiters.get(taskId) ?? [];
      this.#exitWaiters.set(taskId, [...waiters, resolve]);
    });
  }

  forget(taskId: string): void {
    this.#statuses.delete(taskId);
    this.#replaced.delete(taskId);
  }
}

function withLoss(status: TaskStatus): TaskStatus {
  if (status.exit === undefined || status.exit.lost !== undefined) return status;
  const lost = 'the supervisor of the task was replaced by one of another version';
  return { ...status, exit: { ...status.exit, lost } };
}
