import type { Allocation } from '../../model/allocation/allocation.ts';
import type { Job } from '../../model/job/job.ts';
import type { Task } from '../../model/task/task.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { type AllocationDirectories, taskDirectories } from '../directories.ts';
import { type TaskEnvironment, taskEnvironment } from '../environment/environment.ts';
import type { AllocationSurroundings } from './surroundings.ts';

export interface SpecificationOptions {
  readonly surroundings: AllocationSurroundings;
  readonly directories: AllocationDirectories;
  readonly allocation: Allocation;
  readonly job: Job;
}

/** The newest version of an allocation and its job that the servers sent. */
export class Specification {
  readonly #options: SpecificationOptions;
  #allocation: Allocation;
  #job: Job;

  constructor(options: SpecificationOptions) {
    this.#options = options;
    this.#allocation = options.allocation;
    this.#job = options.job;
  }

  get allocation(): Allocation {
    return this.#allocation;
  }

  get job(): Job {
    return this.#job;
  }

  /** `undefined`: the job has no such group. */
  get group(): TaskGroup | undefined {
    return this.#job.TaskGroups.find(({ Name }) => Name === this.#allocation.TaskGroup);
  }

  get tasks(): readonly Task[] {
    return this.group?.Tasks ?? [];
  }

  taskNamed(name: string | undefined): Task | undefined {
    return this.tasks.find(({ Name }) => Name === name);
  }

  /** A4: without a new job the present one stays. */
  update(allocation: Allocation, job: Job | undefined): void {
    this.#allocation = allocation;
    this.#job = job ?? this.#job;
  }

  /** The environment of a task, or of the allocation itself. */
  environment(task: Task | undefined, added: Readonly<Record<string, string>>): TaskEnvironment {
    const { directories, surroundings } = this.#options;
    const { node, region, hostEnvironment, drivers } = surroundings;
    return taskEnvironment({
      node: node(),
      region,
      allocation: this.#allocation,
      job: this.#job,
      group: this.group!,
      task,
      directories: taskDirectories(directories, task?.Name ?? ''),
      isolation: drivers.get(task?.Driver ?? '')?.capabilities.fileSystemIsolation ?? 'none',
      added,
      host: hostEnvironment,
    });
  }
}
