import { durationMs } from '../../base/duration.ts';
import { delay, type World } from '../../base/ports.ts';
import type { Allocation, AllocationReport } from '../../model/allocation/allocation.ts';
import { clientStatusOf, isServerTerminal } from '../../model/allocation/allocation-rules.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';
import type { Job } from '../../model/job/job.ts';
import type { NodeRegistration } from '../../model/node/node.ts';
import type { Task } from '../../model/task/task.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import {
  type AllocationDirectories,
  allocationDirectories,
  makeAllocationDirectories,
  removeAllocationDirectories,
  taskDirectories,
} from '../directories.ts';
import type { DriverExec, Drivers, DriverUsage } from '../drivers/driver.ts';
import { type TaskEnvironment, taskEnvironment } from '../environment/environment.ts';
import { LatestFile } from '../files.ts';
import type {
  AllocationHookContext,
  AllocationHookFactory,
  TaskHookFactory,
} from '../hooks/hook.ts';
import * as events from '../task-runner/events.ts';
import { TaskRunner } from '../task-runner/task-runner.ts';
import { AllocationHooks } from './allocation-hooks.ts';
import {
  type Commanded,
  type ExecWish,
  execInTask,
  type RestartWish,
  restartTasks,
  type SignalWish,
  signalTasks,
} from './commands.ts';
import { endInRounds } from './ending.ts';
import { HealthTracker, type Reasons } from './health.ts';
import { RunDeadline } from './run-deadline.ts';
import {
  removeSavedAllocation,
  type SavedAllocation,
  savedAllocationPath,
} from './saved-allocation.ts';
import { allowedTasks, type EndReason, endReason, hookOf, leftovers } from './stages.ts';

/** What all allocations of a node share. */
export interface AllocationSurroundings {
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  readonly dataDirectory: string;
  readonly drivers: Drivers;
  readonly node: () => NodeRegistration;
  readonly region: string;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  readonly taskHooks: readonly TaskHookFactory[];
  readonly allocationHooks: readonly AllocationHookFactory[];
  /** The report of an allocation has changed. */
  readonly changed: (report: AllocationReport) => void;
  readonly onNotice: (sentence: string) => void;
}

/** Fixed: it is how its user knows. */
const expiredDescription = 'Reached its maximum run duration';

/**
 * Runs the tasks of one allocation in their order and decides when all of them end.
 *
 * Invariants
 *  A1. Which tasks run is a function of the tasks' states (`stages.ts`), looked at after each change.
 *  A2. Once it ends, for whatever reason, only poststop tasks start.
 *  A3. The report is a function of the tasks' states and of the judgement on its health.
 *  A4. It always has a job: the newest that the servers sent of its own registration.
 */
export class AllocationRunner {
  readonly id: string;
  readonly directories: AllocationDirectories;
  /** Resolves when every task is dead. */
  readonly whenDone: Promise<void>;

  readonly #surroundings: AllocationSurroundings;
  readonly #file: LatestFile;
  readonly #tasks = new Map<string, TaskRunner>();
  readonly #health: HealthTracker;
  readonly #hooks: AllocationHooks;
  #allocation: Allocation;
  #job: Job;
  readonly #deadline: RunDeadline;
  /** Aborted when somebody asks not to wait before the tasks are told to end. */
  readonly #hurry = new AbortController();
  #stopping: boolean;
  #expired: boolean;
  #delivered: boolean;
  #ending = false;
  #leaving = false;
  #looking = false;
  /** How many others have to end before a task may start. */
  #holds = 0;
  #resolveDone: () => void = () => {};

  constructor(
    surroundings: AllocationSurroundings,
    allocation: Allocation,
    job: Job,
    saved?: SavedAllocation,
  ) {
    this.id = allocation.ID;
    this.#surroundings = surroundings;
    this.#allocation = allocation;
    this.#job = job;
    this.#stopping = saved?.stopping ?? false;
    this.#expired = saved?.expired ?? false;
    this.#delivered = saved?.delivered ?? false;
    this.directories = allocationDirectories(surroundings.dataDirectory, this.id);
    this.whenDone = new Promise((resolve) => {
      this.#resolveDone = resolve;
    });
    const path = savedAllocationPath(surroundings.dataDirectory, this.id);
    this.#file = new LatestFile(
      path,
      () => JSON.stringify(this.#saved),
      surroundings.world.timers,
      (error) => surroundings.onNotice(`allocation ${this.id} cannot be kept: ${error.message}`),
    );
    const { clock, timers } = surroundings.world;
    this.#deadline = new RunDeadline({ clock, timers, onPassed: () => this.#expire() });
    const judged = (reasons: Reasons | undefined) => this.#judged(reasons);
    this.#health = new HealthTracker(
      { clock, timers, judged },
      allocation.DeploymentID,
      saved?.health,
    );
    for (const task of this.#group?.Tasks ?? []) {
      this.#tasks.set(task.Name, this.#newTask(task, saved));
    }
    this.#hooks = this.#newHooks();
  }

  get allocation(): Allocation {
    return this.#allocation;
  }

  get job(): Job {
    return this.#job;
  }

  get isDone(): boolean {
    return [...this.#tasks.values()].every(({ state }) => state.State === 'dead');
  }

  /** Whether the servers have its last status. */
  get isDelivered(): boolean {
    return this.#delivered;
  }

  /** Ids of the runs that exist or may exist. */
  get runIds(): readonly string[] {
    return [...this.#tasks.values()].flatMap(({ runId }) => runId ?? []);
  }

  get report(): AllocationReport {
    const TaskStates = this.#states;
    const { status, description } =
      this.#tasks.size === 0
        ? ({ status: 'failed', description: 'The job has no such task group' } as const)
        : clientStatusOf(TaskStates);
    const hasExpired = this.#expired && status === 'complete';
    return {
      ID: this.id,
      ClientStatus: status,
      ClientDescription: hasExpired ? expiredDescription : description,
      TaskStates,
      ...this.#health.told,
      NetworkStatus: null,
    };
  }

  taskState(task: string): TaskState | undefined {
    return this.#tasks.get(task)?.state;
  }

  taskNames(): readonly string[] {
    return [...this.#tasks.keys()];
  }

  /** What a task uses now; `undefined`: it does not run, or its driver cannot tell. */
  async usage(task: string): Promise<DriverUsage | undefined> {
    return this.#tasks.get(task)?.usage();
  }

  /** Resolves when the task is dead. */
  whenTaskDead(task: string): Promise<void> {
    return this.#tasks.get(task)?.whenDead ?? Promise.resolve();
  }

  /** No task starts before then. */
  hold(until: Promise<unknown>): void {
    this.#holds++;
    void until.then(() => {
      this.#holds--;
      this.#look();
    });
  }

  /** Begins with the first tasks. Does not wait for them. */
  async start(): Promise<void> {
    try {
      await makeAllocationDirectories(this.directories);
    } catch (error) {
      // The tasks' own set-up fails on it in turn, with an event.
      this.#surroundings.onNotice(`allocation ${this.id}: ${(error as Error).message}`);
    }
    this.#runHooks();
    this.#look();
    this.#setDeadline();
  }

  /** Goes on from what was saved. */
  async restore(): Promise<void> {
    if (this.isDone) {
      this.#resolveDone();
      return;
    }
    await Promise.all([...this.#tasks.values()].map((task) => task.restore()));
    this.#runHooks();
    if (this.#allocation.DesiredTransition.NoShutdownDelay === true) this.#skipShutdownDelay();
    this.#look();
    if (this.#expired) this.#cancelCleanUp();
    this.#setDeadline();
  }

  /**
   * The servers' newest word: an update in place, or the wish that it stops. Without a job, which
   * may be purged by then, it goes on or ends with the one that it has.
   */
  update(allocation: Allocation, job?: Job): void {
    this.#allocation = allocation;
    this.#job = job ?? this.#job;
    if (allocation.DesiredTransition.NoShutdownDelay === true) this.#skipShutdownDelay();
    if (isServerTerminal(allocation)) {
      this.stop();
      return;
    }
    this.#hooks.updated();
    for (const task of this.#tasks.values()) task.updated();
    this.#setDeadline();
    this.#lookAtHealth();
    void this.#file.save();
    if (allocation.ClientStatus === 'unknown') this.#tellReturn();
  }

  /** Ends it, as the servers wish. Resolves when every task is dead. */
  stop(): Promise<void> {
    if (!this.#stopping) {
      this.#stopping = true;
      this.#health.stop();
      void this.#file.save();
      this.#look();
    }
    return this.whenDone;
  }

  /** Source: facts/scheduler.md §8.4. Rejects with `CommandRefusal` or `DriverFailure`. */
  restart(wish: RestartWish): Promise<void> {
    return restartTasks(this.#commanded, wish);
  }

  signal(wish: SignalWish): Promise<void> {
    return signalTasks(this.#commanded, wish);
  }

  exec(wish: ExecWish): Promise<DriverExec> {
    return execInTask(this.#commanded, wish);
  }

  /** The agent goes, the tasks stay. */
  async leave(): Promise<void> {
    this.#leaving = true;
    this.#deadline.close();
    this.#file.close();
    this.#hurry.abort();
    this.#health.stop();
    await this.#hooks.close({ isDone: this.isDone });
    await Promise.all([...this.#tasks.values()].map((task) => task.leave()));
    await this.#file.save();
  }

  /** The agent goes and the tasks end; the next agent starts them again. */
  async suspend(): Promise<void> {
    this.#leaving = true;
    this.#deadline.close();
    this.#file.close();
    this.#hurry.abort();
    this.#health.stop();
    await this.#hooks.close({ isDone: this.isDone });
    await Promise.all([...this.#tasks.values()].map((task) => task.suspend()));
    await this.#file.save();
  }

  async noteDelivered(): Promise<void> {
    this.#delivered = true;
    await this.#file.save();
  }

  /** Removes its files. It must be done. */
  async remove(): Promise<void> {
    this.#leaving = true;
    this.#file.close();
    await this.#file.save();
    await removeAllocationDirectories(this.directories);
    await removeSavedAllocation(this.#surroundings.dataDirectory, this.id);
  }

  get #commanded(): Commanded {
    return {
      id: this.id,
      isOver: this.#ending || this.#stopping || this.isDone,
      tasks: this.#group?.Tasks ?? [],
      runners: this.#tasks,
      holding: (run) => {
        const { onNotice } = this.#surroundings;
        // Nothing of it happens before it is held.
        const done = Promise.resolve().then(run);
        this.hold(done.catch((error: Error) => onNotice(`${this.id}: ${error.message}`)));
      },
    };
  }

  #taskNamed(name: string | undefined): Task | undefined {
    return this.#group?.Tasks.find(({ Name }) => Name === name);
  }

  get #group(): TaskGroup | undefined {
    return this.#job.TaskGroups.find(({ Name }) => Name === this.#allocation.TaskGroup);
  }

  get #states(): Readonly<Record<string, TaskState>> {
    return Object.fromEntries([...this.#tasks].map(([name, { state }]) => [name, state]));
  }

  get #saved(): SavedAllocation {
    return {
      version: 1,
      allocation: this.#allocation,
      job: this.#job,
      tasks: Object.fromEntries([...this.#tasks].map(([name, { saved }]) => [name, saved])),
      health: this.#health.saved,
      stopping: this.#stopping,
      expired: this.#expired,
      delivered: this.#delivered,
    };
  }

  #judged(reasons: Reasons | undefined): void {
    for (const [task, reason] of reasons ?? []) {
      this.#tasks.get(task)?.note(events.allocationUnhealthy(reason));
    }
    void this.#file.save();
    this.#surroundings.changed(this.report);
  }

  #lookAtHealth(): void {
    if (this.#stopping || this.#leaving || this.#holds > 0) return;
    this.#health.look(this.#allocation, this.#job, this.#states, () => this.#hooks.unready());
  }

  #newHooks(): AllocationHooks {
    const { world, dataDirectory, allocationHooks, onNotice } = this.#surroundings;
    const group = this.#group;
    if (group === undefined) return new AllocationHooks([]);
    const context: AllocationHookContext = {
      ...{ id: this.id, world, dataDirectory, directories: this.directories, onNotice },
      allocation: () => this.#allocation,
      job: () => this.#job,
      group: () => this.#group ?? group,
      states: () => this.#states,
      environment: (name) => this.#environment(this.#taskNamed(name), {}),
      controls: (task) => this.#tasks.get(task)?.controls,
      changed: () => this.#lookAtHealth(),
    };
    return new AllocationHooks(allocationHooks.flatMap((make) => make(context) ?? []));
  }

  /** No task starts before they are through. */
  #runHooks(): void {
    if (this.#hooks.isEmpty || this.#stopping || this.isDone) return;
    const ready = this.#hooks.beforeStart().catch((error: Error) => {
      for (const task of this.#tasks.values()) task.fail(events.setupFailure(error.message));
    });
    this.hold(ready);
  }

  /** The servers had lost sight of it. */
  #tellReturn(): void {
    for (const task of this.#tasks.values()) {
      if (task.state.State !== 'dead') task.note(events.reconnected);
    }
    this.#surroundings.changed(this.report);
  }

  #newTask(task: Task, saved: SavedAllocation | undefined): TaskRunner {
    const current = (): Task => this.#taskNamed(task.Name) ?? task;
    return new TaskRunner(
      {
        world: this.#surroundings.world,
        allocId: this.id,
        allocation: () => this.#allocation,
        hooks: this.#surroundings.taskHooks,
        driver: this.#surroundings.drivers.get(task.Driver),
        directories: taskDirectories(this.directories, task.Name),
        job: () => this.#job,
        task: current,
        environment: (added) => this.#environment(current(), added),
        save: () => this.#file.save(),
        changed: () => this.#changed(),
      },
      saved?.tasks[task.Name],
    );
  }

  #environment(task: Task | undefined, added: Readonly<Record<string, string>>): TaskEnvironment {
    const { node, region, hostEnvironment, drivers } = this.#surroundings;
    return taskEnvironment({
      node: node(),
      region,
      allocation: this.#allocation,
      job: this.#job,
      group: this.#group!,
      task,
      directories: taskDirectories(this.directories, task?.Name ?? ''),
      isolation: drivers.get(task?.Driver ?? '')?.capabilities.fileSystemIsolation ?? 'none',
      added,
      host: hostEnvironment,
    });
  }

  #changed(): void {
    // Tasks tell of their first event while they are made; `start` and `restore` look then.
    if (this.#leaving || this.#tasks.size < (this.#group?.Tasks.length ?? 0)) return;
    this.#hooks.changed();
    this.#look();
    this.#surroundings.changed(this.report);
  }

  /** Looks at the tasks' states, and starts and ends what follows from them. */
  #look(): void {
    if (this.#looking || this.#leaving) return;
    this.#looking = true;
    try {
      const tasks = this.#group?.Tasks ?? [];
      const reason = this.#expired ? this.#expiry : endReason(tasks, this.#states);
      if (this.#stopping || reason !== undefined) this.#endAll(tasks, reason);
      const allowed = allowedTasks(tasks, this.#states);
      for (const task of tasks) {
        const mayStart =
          this.#holds === 0 && !this.#expired && (!this.#ending || hookOf(task) === 'poststop');
        if (allowed.has(task.Name) && mayStart) this.#tasks.get(task.Name)?.start();
      }
    } finally {
      this.#looking = false;
    }
    this.#endLeftovers();
    this.#lookAtHealth();
    if (!this.isDone) return;
    this.#deadline.close();
    void this.#hooks.close({ isDone: true });
    this.#resolveDone();
  }

  #endAll(tasks: readonly Task[], reason: EndReason | undefined): void {
    if (this.#ending) return;
    this.#ending = true;
    void this.#runEnding(tasks, reason);
  }

  async #runEnding(tasks: readonly Task[], reason: EndReason | undefined): Promise<void> {
    await this.#hooks.ending();
    await this.#waitShutdownDelay();
    if (this.#leaving) return;
    await endInRounds({ tasks, runners: this.#tasks, reason });
    if (this.#expired) this.#cancelCleanUp();
    this.#look();
  }

  /** Of the group: its services are out, and who still calls them gets an answer for so long. */
  async #waitShutdownDelay(): Promise<void> {
    const delayNs = this.#group?.ShutdownDelay ?? 0;
    const alive = [...this.#tasks.values()].filter(({ state }) => state.State === 'running');
    if (delayNs === 0 || alive.length === 0) return;
    const { signal } = this.#hurry;
    const event = signal.aborted
      ? events.skippingShutdownDelay
      : events.waitingForShutdownDelay(delayNs);
    for (const task of alive) task.note(event);
    await delay(this.#surroundings.world.timers, durationMs(delayNs), signal);
  }

  #skipShutdownDelay(): void {
    this.#hurry.abort();
    for (const task of this.#tasks.values()) task.skipShutdownDelay();
  }

  #setDeadline(): void {
    if (this.#leaving || this.isDone) return;
    this.#deadline.set(this.#allocation.CreateTime, this.#group?.MaxRunDuration ?? null);
  }

  get #expiry(): EndReason {
    return { kind: 'max-run-duration', duration: this.#group?.MaxRunDuration ?? 0 };
  }

  #expire(): void {
    if (this.#leaving || this.isDone) return;
    const wasEnding = this.#ending;
    this.#expired = true;
    void this.#file.save();
    this.#look();
    if (wasEnding) this.#cancelCleanUp();
  }

  /** Tasks that clean up are ended, or never begin. */
  #cancelCleanUp(): void {
    for (const task of this.#group?.Tasks ?? []) {
      if (hookOf(task) === 'poststop') void this.#tasks.get(task.Name)?.kill();
    }
  }

  /** A poststop task that will never be allowed to run is over, too. */
  #endLeftovers(): void {
    for (const name of leftovers(this.#group?.Tasks ?? [], this.#states)) {
      void this.#tasks.get(name)?.kill();
    }
  }
}
