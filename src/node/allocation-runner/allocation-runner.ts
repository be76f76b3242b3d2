import type { Allocation, AllocationReport } from '../../model/allocation/allocation.ts';
import { isServerTerminal } from '../../model/allocation/allocation-rules.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';
import type { Job } from '../../model/job/job.ts';
import { type AllocationDirectories, allocationDirectories } from '../directories.ts';
import type { DriverExec, DriverUsage } from '../drivers/driver.ts';
import type { SystemUser } from '../system-user.ts';
import * as events from '../task-runner/events.ts';
import { type AllocationHooks, newAllocationHooks } from './allocation-hooks.ts';
import { AllocationRecord } from './allocation-record.ts';
import { AllocationTasks } from './allocation-tasks.ts';
import { AllocationUser } from './allocation-user.ts';
import {
  type Commanded,
  type ExecWish,
  execInTask,
  type RestartWish,
  restartTasks,
  type SignalWish,
  signalTasks,
} from './commands.ts';
import { Deadlines } from './deadlines.ts';
import { type AllocationFiles, filesOnDisk } from './files.ts';
import { HealthTracker, type Reasons } from './health.ts';
import { reportOf } from './report.ts';
import type { SavedAllocation } from './saved-allocation.ts';
import { Specification } from './specification.ts';
import { StageControl } from './stage-control.ts';
import type { AllocationSurroundings } from './surroundings.ts';

/**
 * Runs the tasks of one allocation in their order, and decides when all of them must end.
 *
 * Invariants
 *  A1. The set of running tasks is a function of the tasks' states (`stages.ts`), evaluated after
 *      each change.
 *  A2. Once the allocation ends, for whatever reason, only poststop tasks start.
 *  A3. The report is a function of the tasks' states and of the judgement on health.
 *  A4. The allocation always has a job: the newest that the servers sent, of its own registration.
 */
export class AllocationRunner {
  readonly id: string;
  readonly directories: AllocationDirectories;
  readonly #done = Promise.withResolvers<void>();
  readonly whenDone = this.#done.promise;

  readonly #surroundings: AllocationSurroundings;
  readonly #record: AllocationRecord;
  readonly #specification: Specification;
  readonly #user: AllocationUser;
  readonly #tasks: AllocationTasks;
  readonly #health: HealthTracker;
  readonly #hooks: AllocationHooks;
  readonly #deadlines: Deadlines;
  readonly #stages: StageControl;
  #leaving = false;
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;

  constructor(
    surroundings: AllocationSurroundings,
    allocation: Allocation,
    job: Job,
    saved?: SavedAllocation,
  ) {
    this.id = allocation.ID;
    this.#surroundings = surroundings;
    const directories = allocationDirectories(surroundings.dataDirectory, this.id);
    this.directories = directories;
    this.#specification = new Specification({ surroundings, directories, allocation, job });
    this.#record = this.#newRecord(saved);
    const { clock, timers } = surroundings.world;
    this.#deadlines = new Deadlines({
      clock,
      timers,
      contact: surroundings.contact,
      onExpired: () => this.#expire(),
      onCutOff: () => this.#cutOff(),
    });
    const judged = (reasons: Reasons | undefined) => this.#noteJudgement(reasons);
    this.#health = new HealthTracker(
      { clock, timers, judged },
      allocation.DeploymentID,
      saved?.health,
    );
    const specification = this.#specification;
    this.#user = new AllocationUser({ surroundings, directories, specification, saved });
    this.#tasks = new AllocationTasks({
      surroundings,
      directories,
      specification,
      saved: saved?.tasks,
      user: this.#user,
      ready: this.#ready.promise,
      isEnding: () => this.#stages.isEnding || this.#record.stopping,
      save: () => this.#record.save(),
      saveSoon: () => this.#record.saveSoon(),
      changed: () => this.#changed(),
    });
    this.#hooks = newAllocationHooks(surroundings, {
      directories,
      specification,
      tasks: this.#tasks,
      ownUser: () => this.ownUser,
      changed: () => this.#lookAtHealth(),
    });
    this.#stages = new StageControl({
      timers,
      specification,
      record: this.#record,
      tasks: this.#tasks,
      hooks: this.#hooks,
      evaluated: () => this.#settleStages(),
    });
    void this.#ready.promise.then(() => {
      this.#isReady = true;
    });
  }

  get allocation(): Allocation {
    return this.#specification.allocation;
  }

  get job(): Job {
    return this.#specification.job;
  }

  get isDone(): boolean {
    return this.#tasks.areDone;
  }

  /** Its hooks have not finished. */
  get isPreparing(): boolean {
    return !this.#isReady && !this.isDone;
  }

  /** The user of the tasks that name none. */
  get ownUser(): SystemUser | undefined {
    return this.#user.now ?? this.#user.byDefault;
  }

  get isDelivered(): boolean {
    return this.#record.isDelivered;
  }

  /** Ids of the runs that exist or may exist. */
  get runIds(): readonly string[] {
    return this.#tasks.all.flatMap(({ runId }) => runId ?? []);
  }

  get report(): AllocationReport {
    const { states } = this.#tasks;
    return reportOf({
      id: this.id,
      states,
      health: this.#health.told,
      expired: this.#record.expired,
      cutOff: this.#record.cutOff,
      runsOut: this.job.Type === 'batch',
    });
  }

  taskState(task: string): TaskState | undefined {
    return this.#tasks.runners.get(task)?.state;
  }

  taskNames(): readonly string[] {
    return [...this.#tasks.runners.keys()];
  }

  /** The usage of a task; `undefined`: it does not run, or its driver cannot tell. */
  async usage(task: string): Promise<DriverUsage | undefined> {
    return this.#tasks.runners.get(task)?.usage();
  }

  whenTaskDead(task: string): Promise<void> {
    return this.#tasks.runners.get(task)?.whenDead ?? Promise.resolve();
  }

  /** No task starts before `until` has resolved. */
  hold(until: Promise<unknown>): void {
    this.#stages.hold(until);
  }

  /** Starts the first tasks, without waiting for them. */
  async start(): Promise<void> {
    this.#tasks.expectStarts();
    await this.#stages.prepare(async () => {
      await this.#files.makeDirectories(this.directories).catch((error: Error) => {
        // The set-up of the tasks will fail for the same reason, with an event.
        this.#surroundings.onNotice(`allocation ${this.id}: ${error.message}`);
      });
      this.#runHooks();
    });
    this.#stages.evaluate();
    this.#setDeadlines();
  }

  async restore(): Promise<void> {
    if (this.isDone) {
      this.#done.resolve();
      return;
    }
    await this.#stages.prepare(async () => {
      // First, as an allocation without servers for too long must not start again.
      this.#deadlines.setContact(this.#specification.group);
      await Promise.all(this.#tasks.all.map((task) => task.restore()));
      this.#runHooks();
    });
    if (this.allocation.DesiredTransition.NoShutdownDelay === true)
      this.#stages.skipShutdownDelay();
    this.#stages.evaluate();
    if (this.#record.expired) this.#tasks.cancelCleanUp();
    this.#setDeadlines();
  }

  /**
   * Applies the servers' newest version: an update in place, or the wish to stop. `job` is absent
   * once it is purged; then the allocation keeps its job.
   */
  update(allocation: Allocation, job?: Job): void {
    this.#specification.update(allocation, job);
    if (allocation.DesiredTransition.NoShutdownDelay === true) this.#stages.skipShutdownDelay();
    if (isServerTerminal(allocation)) {
      this.stop();
      return;
    }
    this.#hooks.updated();
    for (const task of this.#tasks.all) task.updated();
    this.#setDeadlines();
    this.#lookAtHealth();
    void this.#record.save();
    if (allocation.ClientStatus !== 'unknown') return;
    // The servers had lost contact with the node.
    this.#tasks.noteAlive(events.reconnected);
    this.#surroundings.changed(this.report);
  }

  /** Ends the allocation for the servers. Resolves when every task is dead. */
  stop(): Promise<void> {
    if (!this.#record.stopping) {
      this.#record.stopping = true;
      this.#health.stop();
      void this.#record.save();
      this.#stages.evaluate();
    }
    return this.whenDone;
  }

  /** Rejects with `CommandRefusal` or `DriverFailure`. */
  restart(wish: RestartWish): Promise<void> {
    return restartTasks(this.#commanded, wish);
  }

  signal(wish: SignalWish): Promise<void> {
    return signalTasks(this.#commanded, wish);
  }

  exec(wish: ExecWish): Promise<DriverExec> {
    return execInTask(this.#commanded, wish);
  }

  /** The agent ends, and the tasks go on. */
  async leave(): Promise<void> {
    await this.#close();
    await Promise.all(this.#tasks.all.map((task) => task.leave()));
    await this.#record.save();
  }

  /** The agent ends, and the tasks with it; the next agent starts them again. */
  async suspend(): Promise<void> {
    await this.#close();
    await Promise.all(this.#tasks.all.map((task) => task.suspend()));
    await this.#record.save();
  }

  noteDelivered(): void {
    this.#record.noteDelivered();
  }

  /** Removes its files. Only after every task is dead. */
  async remove(): Promise<void> {
    this.#leaving = true;
    this.#stages.close();
    this.#record.close();
    await this.#files.removeDirectories(this.directories);
    await this.#record.remove();
  }

  get #files(): AllocationFiles {
    return this.#surroundings.files ?? filesOnDisk;
  }

  #newRecord(saved: SavedAllocation | undefined): AllocationRecord {
    return new AllocationRecord({
      surroundings: this.#surroundings,
      id: this.id,
      saved,
      others: () => ({
        allocation: this.allocation,
        job: this.job,
        tasks: this.#tasks.saved,
        health: this.#health.saved,
        ...this.#user.saved,
      }),
    });
  }

  get #commanded(): Commanded {
    return {
      id: this.id,
      isOver: () => this.#stages.isEnding || this.#record.stopping || this.isDone,
      tasks: this.#specification.tasks,
      runners: this.#tasks.runners,
      holding: (run) => {
        const { onNotice } = this.#surroundings;
        // The command runs after the hold has begun.
        const done = Promise.resolve().then(run);
        this.hold(done.catch((error: Error) => onNotice(`${this.id}: ${error.message}`)));
      },
    };
  }

  /** Ends all work on the allocation in this agent. */
  async #close(): Promise<void> {
    this.#leaving = true;
    this.#deadlines.close();
    this.#record.close();
    this.#stages.close();
    this.#health.stop();
    await this.#hooks.close({ isDone: this.isDone });
  }

  #noteJudgement(reasons: Reasons | undefined): void {
    for (const [task, reason] of reasons ?? []) {
      this.#tasks.runners.get(task)?.note(events.allocationUnhealthy(reason));
    }
    void this.#record.save();
    this.#surroundings.changed(this.report);
  }

  #lookAtHealth(): void {
    if (this.#record.stopping || this.#leaving || this.#stages.isHeld) return;
    this.#health.look(this.allocation, this.job, this.#tasks.states, () => this.#hooks.unready());
  }

  /** No task starts before the hooks have finished. */
  #runHooks(): void {
    const isIdle = this.#hooks.isEmpty && !this.#user.isNeeded;
    if (isIdle || this.#record.stopping || this.isDone) {
      this.#ready.resolve();
      return;
    }
    const prepared = this.#user.take().then(() => this.#hooks.beforeStart());
    const ready = prepared.catch((error: Error) => {
      for (const task of this.#tasks.all) task.fail(events.setupFailure(error.message));
    });
    this.#ready.resolve(ready);
    this.hold(ready);
  }

  #changed(): void {
    if (this.#leaving) return;
    this.#hooks.changed();
    this.#stages.evaluate();
    this.#surroundings.changed(this.report);
  }

  /** After each evaluation of the tasks' states. */
  #settleStages(): void {
    this.#lookAtHealth();
    if (!this.isDone) return;
    this.#deadlines.close();
    void this.#hooks.close({ isDone: true });
    this.#done.resolve();
  }

  #setDeadlines(): void {
    if (this.#leaving || this.isDone) return;
    const { group } = this.#specification;
    this.#deadlines.setRun(this.allocation, group);
    this.#deadlines.setContact(group);
  }

  #expire(): void {
    if (this.#leaving || this.isDone) return;
    const wasEnding = this.#stages.isEnding;
    this.#record.expired = true;
    void this.#record.save();
    this.#stages.evaluate();
    if (wasEnding) this.#tasks.cancelCleanUp();
  }

  #cutOff(): void {
    if (this.#leaving || this.isDone || this.#record.stopping) return;
    this.#record.cutOff = true;
    void this.stop();
  }
}
