import type { TaskState } from '../../model/allocation/task-state.ts';
import type { Task } from '../../model/task/task.ts';
import { type AllocationDirectories, taskDirectories } from '../directories.ts';
import type { EventAt } from '../task-runner/events.ts';
import type { SavedTask } from '../task-runner/task-record.ts';
import { TaskRunner } from '../task-runner/task-runner.ts';
import type { AllocationUser } from './allocation-user.ts';
import type { Specification } from './specification.ts';
import { allowedTasks, hookOf, leftovers } from './stages.ts';
import type { AllocationSurroundings } from './surroundings.ts';

export interface AllocationTasksOptions {
  readonly surroundings: AllocationSurroundings;
  readonly directories: AllocationDirectories;
  readonly specification: Specification;
  readonly saved: Readonly<Record<string, SavedTask>> | undefined;
  readonly user: AllocationUser;
  /** Resolves when the allocation's hooks have finished. */
  readonly ready: Promise<void>;
  /** All tasks are ending, except poststop tasks. */
  readonly isEnding: () => boolean;
  /** Resolves when the present state of all tasks is on disk. Never rejects. */
  readonly save: () => Promise<void>;
  /** Saves it before long. */
  readonly saveSoon: () => void;
  /** A task's state has changed. Not called while the runners are being made. */
  readonly changed: () => void;
}

export class AllocationTasks {
  readonly runners: ReadonlyMap<string, TaskRunner>;
  readonly #specification: Specification;
  readonly #surroundings: AllocationSurroundings;

  constructor(options: AllocationTasksOptions) {
    this.#specification = options.specification;
    this.#surroundings = options.surroundings;
    let isMade = false;
    const changed = (): void => {
      if (isMade) options.changed();
    };
    this.runners = new Map(
      options.specification.tasks.map((task) => [task.Name, newRunner(task, options, changed)]),
    );
    isMade = true;
  }

  get all(): readonly TaskRunner[] {
    return [...this.runners.values()];
  }

  get areDone(): boolean {
    return this.all.every(({ state }) => state.State === 'dead');
  }

  get states(): Readonly<Record<string, TaskState>> {
    return Object.fromEntries([...this.runners].map(([name, { state }]) => [name, state]));
  }

  get saved(): Readonly<Record<string, SavedTask>> {
    return Object.fromEntries([...this.runners].map(([name, { saved }]) => [name, saved]));
  }

  /** Tells the drivers that runs are being prepared. */
  expectStarts(): void {
    const { drivers } = this.#surroundings;
    for (const name of new Set(this.#specification.tasks.map(({ Driver }) => Driver))) {
      drivers.get(name)?.expectStart?.();
    }
  }

  /** Starts the tasks whose stage has come, if `mayStart` allows them. */
  startAllowed(mayStart: (task: Task) => boolean): void {
    const { tasks } = this.#specification;
    const allowed = allowedTasks(tasks, this.states);
    for (const task of tasks) {
      if (allowed.has(task.Name) && mayStart(task)) this.runners.get(task.Name)?.start();
    }
  }

  /** Ends poststop tasks, also those that have not begun. */
  cancelCleanUp(): void {
    for (const task of this.#specification.tasks) {
      if (hookOf(task) === 'poststop') void this.runners.get(task.Name)?.kill();
    }
  }

  /** Ends poststop tasks that will never be allowed to run. */
  endLeftovers(): void {
    for (const name of leftovers(this.#specification.tasks, this.states)) {
      void this.runners.get(name)?.kill();
    }
  }

  /** Adds an event to the tasks that are not dead. */
  noteAlive(event: EventAt): void {
    for (const task of this.all) if (task.state.State !== 'dead') task.note(event);
  }
}

function newRunner(task: Task, options: AllocationTasksOptions, changed: () => void): TaskRunner {
  const { surroundings, directories, specification, saved, ready, isEnding, user } = options;
  const { save, saveSoon } = options;
  const current = (): Task => specification.taskNamed(task.Name) ?? task;
  const context = {
    world: surroundings.world,
    defences: surroundings.defences,
    allocId: specification.allocation.ID,
    allocation: () => specification.allocation,
    hooks: surroundings.taskHooks,
    driver: surroundings.drivers.get(task.Driver),
    directories: taskDirectories(directories, task.Name),
    files: surroundings.files,
    job: () => specification.job,
    task: current,
    environment: (added: Readonly<Record<string, string>>) =>
      specification.environment(current(), added),
    ...(user.isGiven && { ownUser: () => user.now }),
    ready,
    isEnding: () => isEnding() && hookOf(task) !== 'poststop',
    save,
    saveSoon,
    changed,
  };
  return new TaskRunner(context, saved?.[task.Name]);
}
