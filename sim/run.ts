/**
 * An allocation on a simulated machine: one task that is a timer, with the restarts and the health of
 * the real node. What its task does stands in its `Config` (`run_for`, `exit_code`, `kill_after`), as
 * the mock driver reads it.
 */
import { durationMs } from '../src/base/duration.ts';
import { formatInstant } from '../src/base/instant.ts';
import type { Timer, World } from '../src/base/ports.ts';
import type { Allocation, AllocationReport } from '../src/model/allocation/allocation.ts';
import { clientStatusOf } from '../src/model/allocation/allocation-rules.ts';
import type { TaskState } from '../src/model/allocation/task-state.ts';
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
  /** What its machine knows of it, as the servers last said. */
  allocation: Allocation;
  job: Job;
  /** When its task last began, ended or was started anew, or fared otherwise, on the world's own clock. */
  changedMs = 0;
  #isWell = true;
  readonly #world: World;
  readonly #changed: () => void;
  #state: TaskState = { ...fresh };
  #timer: Timer | undefined;
  readonly #health: HealthTracker;
  #restarts: { count: number; windowStartMs: number } | undefined;
  #isStopping = false;

  constructor(world: World, allocation: Allocation, job: Job, changed: () => void) {
    this.#world = world;
    this.allocation = allocation;
    this.job = job;
    this.#changed = changed;
    this.#health = new HealthTracker(
      { clock: world.clock, timers: world.timers, judged: () => this.#changed() },
      allocation.DeploymentID,
    );
  }

  get id(): string {
    return this.allocation.ID;
  }

  /** The task holds what it was given. */
  get isRunning(): boolean {
    return this.#state.State === 'running';
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get isDone(): boolean {
    return this.#state.State === 'dead';
  }

  /** What a check of it would say. */
  get isWell(): boolean {
    return this.#isWell;
  }

  /** A check of it says something else. */
  turn(): void {
    this.#isWell = !this.#isWell;
    this.changedMs = this.#world.clock.monotonicMs();
  }

  /** It may be found by others. */
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
    this.#after(startMs, () => {
      const now = this.#world.clock.nowMs();
      this.#restarts ??= { count: 0, windowStartMs: now };
      this.#change({ State: 'running', StartedAt: formatInstant(now) });
      const { run_for, exit_code } = this.#config;
      if (run_for === undefined) return;
      this.#after(msOf(run_for), () => this.#ended(Number(exit_code ?? 0)));
    });
  }

  /** The servers want it ended, or no longer know it. */
  stop(): void {
    if (this.isDone || this.#isStopping) return;
    this.#isStopping = true;
    this.#health.stop();
    this.#after(this.#killMs, () => this.#finish(false));
  }

  /** It was to end, and its machine was off meanwhile: nothing of it is left. */
  endAtOnce(): void {
    this.#isStopping = true;
    this.#finish(false);
  }

  /** Somebody wants the task to begin anew; that is no failure of it. `false`: it does not run. */
  restart(): boolean {
    if (!this.isRunning || this.#isStopping) return false;
    this.#after(this.#killMs, () => {
      this.#change({ State: 'pending', Restarts: this.#state.Restarts + 1 });
      this.start();
    });
    return true;
  }

  /** The servers changed it where it is. */
  update(allocation: Allocation, job: Job): void {
    this.allocation = allocation;
    this.job = job;
    this.#look();
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

  /** It is killed when it takes too long to end. */
  get #killMs(): number {
    const { kill_after } = this.#config;
    if (kill_after === undefined) return killMs;
    return Math.min(msOf(kill_after), durationMs(this.#task.KillTimeout));
  }

  #ended(exitCode: number): void {
    const decision = decideRestart({
      policy: this.group.RestartPolicy,
      tracker: this.#restarts!,
      cause: { kind: 'exit', successful: exitCode === 0 },
      restartsOnSuccess: restartsOnSuccess(this.job, this.#task),
      nowMs: this.#world.clock.nowMs(),
      jitter: this.#world.random.fraction(),
    });
    if (decision.kind !== 'restart') {
      this.#finish(decision.kind === 'fail');
      return;
    }
    this.#restarts = decision.tracker;
    this.#change({ State: 'pending', Restarts: this.#state.Restarts + 1 });
    this.#after(decision.delayMs, () => this.start());
  }

  #finish(Failed: boolean): void {
    this.#timer?.clear();
    this.#change({ State: 'dead', Failed, FinishedAt: formatInstant(this.#world.clock.nowMs()) });
    this.#health.stop();
  }

  #change(state: Partial<TaskState>): void {
    this.#state = { ...this.#state, ...state };
    this.changedMs = this.#world.clock.monotonicMs();
    this.#look();
    this.#changed();
  }

  #look(): void {
    this.#health.look(this.allocation, this.job, { [this.#task.Name]: this.#state });
  }

  #after(delayMs: number, run: () => void): void {
    this.#timer?.clear();
    this.#timer = this.#world.timers.after(delayMs, run);
  }
}

const msOf = (value: unknown): number => durationMs(durationNs(value) ?? 0);

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
