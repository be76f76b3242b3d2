/**
 * An allocation on a simulated machine: a single task that is a timer, with the restarts and the health
 * checks of the real node. The task takes the `Config` of the mock driver (`run_for`, `exit_code`,
 * `kill_after`).
 */
import { durationMs } from '../src/base/duration.ts';
import { formatInstant, instantFromMs } from '../src/base/instant.ts';
import type { Timer, World } from '../src/base/ports.ts';
import type { Allocation, AllocationReport } from '../src/model/allocation/allocation.ts';
import { clientStatusOf, withTaskEvent } from '../src/model/allocation/allocation-rules.ts';
import { taskEvent } from '../src/model/allocation/task-event.ts';
import { type TaskState, taskEventTypes } from '../src/model/allocation/task-state.ts';
import type { Job } from '../src/model/job/job.ts';
import { groupNamed } from '../src/model/job/job-rules.ts';
import type { Task } from '../src/model/task/task.ts';
import type { TaskGroup } from '../src/model/task-group/task-group.ts';
import { HealthTracker } from '../src/node/allocation-runner/health.ts';
import { durationNs } from '../src/node/drivers/config.ts';
import { decideRestart, restartsOnSuccess } from '../src/node/task-runner/restart-policy.ts';

const startMs = 200;
const killMs = 500;

export class Run {
  /** The newest assignment that the machine received. */
  allocation: Allocation;
  job: Job;
  /** Time of the last change of the task or its check, by the world's clock. */
  changedMs = 0;
  #isWell = true;
  readonly #world: World;
  readonly #changed: () => void;
  #state: TaskState;
  #timer: Timer | undefined;
  readonly #health: HealthTracker;
  #restarts: { count: number; windowStartMs: number } | undefined;
  #isStopping = false;

  constructor(world: World, allocation: Allocation, job: Job, changed: () => void) {
    this.#world = world;
    this.allocation = allocation;
    this.job = job;
    this.#changed = changed;
    const { Events = null } = allocation.TaskStates[this.#task.Name] ?? {};
    this.#state = this.#withEvent({ ...fresh, Events }, 'received');
    this.#health = new HealthTracker(
      { clock: world.clock, timers: world.timers, judged: () => this.#changed() },
      allocation.DeploymentID,
    );
  }

  get id(): string {
    return this.allocation.ID;
  }

  /** Whether the task uses its resources. */
  get isRunning(): boolean {
    return this.#state.State === 'running';
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get isDone(): boolean {
    return this.#state.State === 'dead';
  }

  /** Whether the check of the services passes. */
  get isWell(): boolean {
    return this.#isWell;
  }

  flipCheck(): void {
    this.#isWell = !this.#isWell;
    this.changedMs = this.#world.clock.monotonicMs();
  }

  /** Whether its services are registered. */
  get isServing(): boolean {
    return this.isRunning && !this.#isStopping;
  }

  get report(): AllocationReport {
    const { status, description } = clientStatusOf({ [this.#task.Name]: this.#state });
    return {
      ID: this.id,
      ClientStatus: status,
      ClientDescription: description,
      TaskStates: { [this.#task.Name]: this.#state },
      ...this.#health.told,
      NetworkStatus: null,
    };
  }

  start(): void {
    if (this.#isStopping) return;
    this.#setTimer(startMs, () => {
      const now = this.#world.clock.nowMs();
      this.#restarts ??= { count: 0, windowStartMs: now };
      this.#changeState({ State: 'running', StartedAt: formatInstant(now) });
      const { run_for, exit_code } = this.#config;
      if (run_for === undefined) return;
      this.#setTimer(msOf(run_for), () => this.#endTask(Number(exit_code ?? 0)));
    });
  }

  stop(): void {
    if (this.isDone || this.#isStopping) return;
    this.#isStopping = true;
    this.#health.stop();
    this.#setTimer(this.#killMs, () => this.#finishTask(false));
  }

  /** Ends a run that was stopping when its machine lost power. */
  endAtOnce(): void {
    this.#isStopping = true;
    this.#finishTask(false);
  }

  /** Restarts the task on request, which does not count as a failure. `false` if it does not run. */
  restart(): boolean {
    if (!this.isRunning || this.#isStopping) return false;
    this.#setTimer(this.#killMs, () => {
      this.#changeState({ State: 'pending', Restarts: this.#state.Restarts + 1 });
      this.start();
    });
    return true;
  }

  /** Takes an update in place. */
  update(allocation: Allocation, job: Job): void {
    this.allocation = allocation;
    this.job = job;
    this.#checkHealth();
  }

  get group(): TaskGroup {
    return groupNamed(this.job, this.allocation.TaskGroup) ?? this.job.TaskGroups[0]!;
  }

  get #task(): Task {
    return this.group.Tasks[0]!;
  }

  get #config(): Readonly<Record<string, unknown>> {
    return (this.#task.Config ?? {}) as Readonly<Record<string, unknown>>;
  }

  /** How long the task takes to end: it is killed after its `KillTimeout`. */
  get #killMs(): number {
    const { kill_after } = this.#config;
    if (kill_after === undefined) return killMs;
    return Math.min(msOf(kill_after), durationMs(this.#task.KillTimeout));
  }

  #endTask(exitCode: number): void {
    const decision = decideRestart({
      policy: this.group.RestartPolicy,
      tracker: this.#restarts!,
      cause: { kind: 'exit', successful: exitCode === 0 },
      restartsOnSuccess: restartsOnSuccess(this.job, this.#task),
      nowMs: this.#world.clock.nowMs(),
      jitter: this.#world.random.fraction(),
    });
    if (decision.kind !== 'restart') {
      this.#finishTask(decision.kind === 'fail');
      return;
    }
    this.#restarts = decision.tracker;
    this.#changeState({ State: 'pending', Restarts: this.#state.Restarts + 1 });
    this.#setTimer(decision.delayMs, () => this.start());
  }

  #finishTask(Failed: boolean): void {
    this.#timer?.clear();
    const FinishedAt = formatInstant(this.#world.clock.nowMs());
    this.#changeState({ State: 'dead', Failed, FinishedAt });
    this.#health.stop();
  }

  #changeState(state: Pick<TaskState, 'State'> & Partial<TaskState>): void {
    this.#state = this.#withEvent({ ...this.#state, ...state }, eventOf[state.State]);
    this.changedMs = this.#world.clock.monotonicMs();
    this.#checkHealth();
    this.#changed();
  }

  #withEvent(state: TaskState, type: keyof typeof taskEventTypes): TaskState {
    const time = instantFromMs(this.#world.clock.nowMs());
    return withTaskEvent(state, taskEvent(taskEventTypes[type], time));
  }

  #checkHealth(): void {
    this.#health.look(this.allocation, this.job, { [this.#task.Name]: this.#state });
  }

  #setTimer(delayMs: number, run: () => void): void {
    this.#timer?.clear();
    this.#timer = this.#world.timers.after(delayMs, run);
  }
}

const msOf = (value: unknown): number => durationMs(durationNs(value) ?? 0);

const eventOf = { pending: 'restarting', running: 'started', dead: 'terminated' } as const;

const fresh: TaskState = {
  State: 'pending',
  Failed: false,
  Restarts: 0,
  LastRestart: null,
  StartedAt: null,
  FinishedAt: null,
  Paused: '',
  Events: null,
};
