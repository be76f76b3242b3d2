import { durationMs, nanosecondsPerMillisecond } from '../../base/duration.ts';
import { formatInstant, instantFromMs } from '../../base/instant.ts';
import { delay } from '../../base/ports.ts';
import { withTaskEvent } from '../../model/allocation/allocation-rules.ts';
import { pendingTask } from '../../model/allocation/task-event.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';
import { limits } from '../../model/limits.ts';
import {
  type DriverCommand,
  type DriverExec,
  DriverFailure,
  type DriverHandle,
  type DriverUsage,
  type TaskExit,
} from '../drivers/driver.ts';
import { HookFailure, type TaskControls } from '../hooks/hook.ts';
import * as events from './events.ts';
import {
  decideRestart,
  type RestartCause,
  type RestartTracker,
  restartsOnSuccess,
} from './restart-policy.ts';
import {
  describeRun,
  makeDirectories,
  runIdOf,
  sentenceOf,
  type TaskContext,
} from './task-context.ts';
import { TaskHooks } from './task-hooks.ts';

/**
 * idle      not yet allowed to run, or stopped with the agent and to be started again
 * starting  run number `run` is on disk and may exist
 * running   run number `run` exists
 * waiting   the next run begins at `restartAtMs`
 * dead      over; never leaves this phase
 */
export type TaskPhase = 'idle' | 'starting' | 'running' | 'waiting' | 'dead';

/** What of a task survives its agent. */
export interface SavedTask {
  readonly state: TaskState;
  readonly phase: TaskPhase;
  readonly run: number;
  readonly tracker: RestartTracker | null;
  readonly restartAtMs: number;
}

export interface KillOptions {
  /** Told before the kill itself. */
  readonly reason?: events.EventAt;
  readonly shutdownDelayMs?: number;
}

/** How one run came to its end, as far as the loop is concerned. */
type RunEnd =
  | RestartCause
  | { readonly kind: 'killed' }
  | { readonly kind: 'left' }
  | { readonly kind: 'again' };

const killAttemptsMax = 5;
const killFirstDelayMs = 5_000;
const killDelayMaxMs = 120_000;

/**
 * Runs one task until it is dead.
 *
 * Invariants
 *  T1. A run's number is on disk before the run is started, so that no agent starts it twice.
 *  T2. Nothing restarts once a kill was asked for.
 *  T3. An exit is acknowledged to the driver only when what follows from it is on disk.
 *  T4. After `leave` or `suspend` nothing is changed or reported any more.
 */
export class TaskRunner {
  readonly #context: TaskContext;
  readonly #kill = new AbortController();
  readonly #leave = new AbortController();
  /** Aborted when somebody asks not to wait for its shutdown delay. */
  readonly #hurry = new AbortController();
  #hooks: TaskHooks;
  #state: TaskState = pendingTask;
  #phase: TaskPhase = 'idle';
  #run = 0;
  #tracker: RestartTracker | null = null;
  #restartAtMs = 0;
  #killOptions: KillOptions = {};
  #restartAsked: { readonly isFailure: boolean } | undefined;
  #failed = false;
  #handle: DriverHandle | undefined;
  #restored = false;
  #loop: Promise<void> | undefined;
  #resetAsked = false;
  #dead = Promise.withResolvers<void>();

  constructor(context: TaskContext, saved?: SavedTask) {
    this.#context = context;
    this.#hooks = this.#newHooks();
    if (saved === undefined) {
      this.#emit(events.received);
      return;
    }
    const { state, phase, run, tracker, restartAtMs } = saved;
    this.#state = state;
    this.#phase = phase;
    this.#run = run;
    this.#tracker = tracker;
    this.#restartAtMs = restartAtMs;
    if (phase === 'dead') this.#dead.resolve();
  }

  /** Resolves when the task is dead. */
  get whenDead(): Promise<void> {
    return this.#dead.promise;
  }

  get state(): TaskState {
    return this.#state;
  }

  get saved(): SavedTask {
    return {
      state: this.#state,
      phase: this.#phase,
      run: this.#run,
      tracker: this.#tracker,
      restartAtMs: this.#restartAtMs,
    };
  }

  /** The run that exists or may exist, or `undefined`. */
  get runId(): string | undefined {
    const exists = this.#phase === 'running' || this.#phase === 'starting';
    return exists ? runIdOf(this.#context.allocId, this.#name, this.#run) : undefined;
  }

  /** `undefined`: it does not run, or its driver cannot tell. */
  async usage(): Promise<DriverUsage | undefined> {
    const { runId } = this;
    return runId === undefined ? undefined : this.#context.driver?.usage?.(runId);
  }

  /** Takes up what an earlier agent left: attaches to the run, or waits on for the next one. */
  async restore(): Promise<void> {
    this.#restored = true;
    const { runId } = this;
    if (this.#phase === 'waiting') this.#begin(undefined);
    if (runId === undefined) return;
    const handle = await this.#context.driver?.recover(runId, this.#tell);
    if (handle !== undefined && this.#phase === 'starting') await this.#noteStarted();
    // The agent before left it in its shutdown delay.
    else if (handle !== undefined) this.#change({ State: 'running' });
    if (handle === undefined && this.#phase === 'running') {
      this.#emit(events.failedRestoring('nothing is known of its process'));
      this.#change({ State: 'pending' });
    }
    this.#begin(handle);
  }

  /** The task is allowed to run. Does nothing when it has begun. */
  start(): void {
    if (this.#phase === 'idle' && this.#loop === undefined && !this.#kill.signal.aborted) {
      this.#begin(undefined);
    }
  }

  /** Ends the task for good. Resolves when it is dead. */
  kill(options: KillOptions = {}): Promise<void> {
    if (!this.#kill.signal.aborted && this.#phase !== 'dead') {
      this.#killOptions = options;
      if (options.reason !== undefined) this.#emit(options.reason);
      this.#kill.abort();
      if (this.#loop === undefined) this.#die(this.#failed);
    }
    return this.whenDead;
  }

  /** Also when it waits already. */
  skipShutdownDelay(): void {
    this.#hurry.abort();
  }

  /** Ends the task for good, as failed. */
  fail(event: events.EventAt): void {
    if (this.#kill.signal.aborted || this.#phase === 'dead') return;
    this.#failed = true;
    void this.kill({ reason: event });
  }

  /** What hooks may do with it, for those of its allocation. */
  get controls(): TaskControls {
    return this.#hooks.controls;
  }

  /** The job was updated in place. */
  updated(): void {
    if (this.#phase !== 'dead') this.#hooks.updated();
  }

  /**
   * Ends the present run and begins the next one: at once, or as a failure, by the restart policy.
   */
  async restart(reason: string, { isFailure = false } = {}): Promise<void> {
    if (this.#handle === undefined) throw new DriverFailure('the task is not running', false);
    this.#restartAsked ??= { isFailure };
    this.#emit(events.restartSignaled(reason));
    await this.#handle.stop(this.#killSignal, this.#killTimeoutMs);
  }

  /**
   * Goes back to where the task has not begun, ending the present run if there is one; `start`
   * then begins it anew. It does not count as a failure. Resolves when it is there.
   */
  async reset(reason: string): Promise<void> {
    if (this.#kill.signal.aborted || this.#leave.signal.aborted) return;
    if (this.#phase === 'dead') {
      this.#phase = 'idle';
      this.#loop = undefined;
      this.#dead = Promise.withResolvers();
      this.#hooks = this.#newHooks();
      this.#emit(events.restartSignaled(reason));
      this.#change({ State: 'pending', Failed: false, FinishedAt: null });
    } else if (this.#handle !== undefined) {
      this.#resetAsked = true;
      this.#emit(events.restartSignaled(reason));
      const loop = this.#loop;
      await this.#handle.stop(this.#killSignal, this.#killTimeoutMs);
      await loop;
    }
  }

  /** Something happened to it that its runner does not see itself. */
  note(event: events.EventAt): void {
    if (!this.#leave.signal.aborted) this.#emit(event);
  }

  async signal(signal: string, reason: string): Promise<void> {
    if (this.#handle === undefined) throw new DriverFailure('the task is not running', false);
    this.#emit(events.signaling(signal, reason));
    await this.#handle.signal(signal);
  }

  /** Runs a command beside the present run. Rejects with `DriverFailure`. */
  async exec(command: DriverCommand): Promise<DriverExec> {
    const { driver } = this.#context;
    if (this.#handle === undefined || driver === undefined) {
      throw new DriverFailure('the task is not running', false);
    }
    if (!driver.capabilities.exec || driver.exec === undefined) {
      const reason = `the driver "${driver.name}" runs no commands beside its tasks`;
      throw new DriverFailure(reason, false);
    }
    return driver.exec(this.#handle.runId, command);
  }

  /** The agent goes and the task stays as it is. */
  async leave(): Promise<void> {
    this.#leave.abort();
    await this.#loop;
    if (this.#phase !== 'dead') await this.#hooks.close({ isDead: false });
  }

  /** The agent goes and takes the task along; the next agent starts it again. Never rejects. */
  async suspend(): Promise<void> {
    await this.leave();
    const handle = this.#handle;
    if (handle === undefined || this.#phase === 'dead') return;
    // Whoever ends the driver afterwards ends what this could not.
    const isStopped = await handle.stop(this.#killSignal, this.#killTimeoutMs).then(
      () => true,
      () => false,
    );
    if (!isStopped) return;
    await handle.exited;
    this.#phase = 'idle';
    this.#state = { ...this.#state, State: 'pending' };
    await this.#context.save();
    await handle.forget().catch(() => {});
  }

  #newHooks(): TaskHooks {
    return new TaskHooks(this.#context, {
      runId: () => this.#handle?.runId,
      over: AbortSignal.any([this.#kill.signal, this.#leave.signal]),
      note: (event) => this.note(event),
      restart: (reason, options) => this.restart(reason, options),
      signal: (signal, reason) => this.signal(signal, reason),
      fail: (event) => this.fail(event),
    });
  }

  get #name(): string {
    return this.#context.task().Name;
  }

  readonly #tell = (sentence: string): void => this.note(events.driverMessage(sentence));

  get #killSignal(): string {
    return (
      this.#context.task().KillSignal || (this.#context.driver?.defaultKillSignal ?? 'SIGTERM')
    );
  }

  get #killTimeoutMs(): number {
    return Math.min(durationMs(this.#context.task().KillTimeout), limits.task.killTimeoutMaxMs);
  }

  /** Begins the loop. A fault of this program in it ends the task, and nothing else. */
  #begin(recovered: DriverHandle | undefined): void {
    this.#loop = this.#live(recovered).catch(async (error: Error) => {
      if (this.#phase === 'dead') return;
      const handle = this.#handle;
      const isStopping = await handle?.stop('SIGKILL', 0).then(
        () => true,
        () => false,
      );
      if (isStopping) await handle?.exited;
      this.#die(true, events.setupFailure(error.message));
    });
  }

  async #live(recovered: DriverHandle | undefined): Promise<void> {
    let found = recovered;
    if (this.#phase === 'waiting') await this.#waitForRestart();
    while (!this.#leave.signal.aborted) {
      const end = await this.#runOnce(found);
      found = undefined;
      if (end.kind === 'left') return;
      if (end.kind === 'killed') return this.#die(this.#failed, events.killed());
      if (end.kind === 'again') continue;
      if (!this.#decide(end)) return;
      await this.#acknowledge();
      await this.#waitForRestart();
    }
  }

  async #runOnce(found: DriverHandle | undefined): Promise<RunEnd> {
    if (found === undefined && this.#kill.signal.aborted) return { kind: 'killed' };
    const handle = found ?? (await this.#startRun());
    if (!('exited' in handle)) return handle;
    this.#handle = handle;
    this.#hooks.started({ runId: handle.runId, isRestored: found !== undefined });
    const exit = await this.#watch(handle);
    if (exit === undefined) return { kind: 'left' };
    await this.#hooks.ended();
    const lostAway = exit.lost !== undefined && this.#restored;
    this.#restored = false;
    this.#emit(lostAway ? events.failedRestoring(exit.lost ?? '') : events.terminated(exit));
    if (this.#kill.signal.aborted) return { kind: 'killed' };
    if (this.#resetAsked) {
      this.#resetAsked = false;
      this.#phase = 'idle';
      this.#change({ State: 'pending', ...this.#restartCounted() });
      await this.#acknowledge();
      if (this.#kill.signal.aborted) return { kind: 'killed' };
      this.#loop = undefined;
      return { kind: 'left' };
    }
    const asked = this.#restartAsked;
    this.#restartAsked = undefined;
    if (asked?.isFailure) return { kind: 'exit', successful: false };
    if (lostAway || asked !== undefined) {
      this.#phase = 'waiting';
      this.#restartAtMs = 0;
      this.#change({ State: 'pending', ...this.#restartCounted() });
      await this.#acknowledge();
      return { kind: 'again' };
    }
    const successful = exit.exitCode === 0 && exit.signal === 0 && exit.lost === undefined;
    return { kind: 'exit', successful };
  }

  /** Starts the next run, or the one that an earlier agent was about to start. */
  async #startRun(): Promise<DriverHandle | RunEnd> {
    const nowMs = this.#context.world.clock.nowMs();
    this.#tracker ??= { count: 0, windowStartMs: nowMs };
    if (this.#phase !== 'starting') this.#run++;
    this.#phase = 'starting';
    if (this.#run === 1) this.#emit(events.taskSetup);
    await this.#context.save();
    try {
      const { driver } = this.#context;
      const { Driver: name } = this.#context.task();
      if (driver === undefined) throw new DriverFailure(`this node has no driver "${name}"`, false);
      await makeDirectories(this.#context);
      const added = await this.#hooks.beforeStart();
      if (added === undefined) return { kind: this.#kill.signal.aborted ? 'killed' : 'left' };
      const run = describeRun(this.#context, this.#run, added, this.#hooks.volumes);
      const faults = driver.validate(run.config);
      if (faults.length > 0) {
        await this.#hooks.ended();
        this.#emit(events.failedValidation(sentenceOf(faults)));
        return { kind: 'start-failure', recoverable: false };
      }
      const handle = await driver.start({ ...run, tell: this.#tell, over: this.controls.over });
      await this.#noteStarted();
      return handle;
    } catch (error) {
      await this.#hooks.ended();
      if (this.#leave.signal.aborted) return { kind: 'left' };
      if (this.#kill.signal.aborted) return { kind: 'killed' };
      if (error instanceof HookFailure) {
        this.#emit(error.event);
        return { kind: 'start-failure', recoverable: error.recoverable };
      }
      const known = error instanceof DriverFailure;
      const { message } = error as Error;
      this.#emit(known ? events.driverFailure(message) : events.setupFailure(message));
      return { kind: 'start-failure', recoverable: !known || error.recoverable };
    }
  }

  async #noteStarted(): Promise<void> {
    this.#phase = 'running';
    this.#emit(events.started);
    const StartedAt = this.#state.StartedAt ?? this.#now();
    this.#change({ State: 'running', StartedAt });
    void this.#context.save();
  }

  /** The exit, or `undefined` when the agent leaves first. Ends the run when a kill is asked for. */
  async #watch(handle: DriverHandle): Promise<TaskExit | undefined> {
    const left = aborted(this.#leave.signal).then(() => undefined);
    const asked = aborted(this.#kill.signal).then(() => 'kill' as const);
    const first = await Promise.race([handle.exited, left, asked]);
    if (first !== 'kill') return first;
    await Promise.race([this.#end(handle), left, handle.exited]);
    return Promise.race([handle.exited, left]);
  }

  async #end(handle: DriverHandle): Promise<void> {
    const { timers } = this.#context.world;
    const { shutdownDelayMs = 0 } = this.#killOptions;
    await this.#hooks.ending();
    if (shutdownDelayMs > 0 && this.#hurry.signal.aborted) {
      this.#emit(events.skippingShutdownDelay);
    } else if (shutdownDelayMs > 0 && !this.#leave.signal.aborted) {
      this.#emit(events.waitingForShutdownDelay(shutdownDelayMs * nanosecondsPerMillisecond));
      this.#change({ State: 'pending' });
      const over = AbortSignal.any([this.#leave.signal, this.#hurry.signal]);
      await delay(timers, shutdownDelayMs, over);
    }
    if (this.#leave.signal.aborted || this.#handle !== handle) return;
    this.#emit(events.killing(this.#killTimeoutMs * nanosecondsPerMillisecond));
    for (let attempt = 1, waitMs = killFirstDelayMs; ; attempt++) {
      try {
        return await handle.stop(this.#killSignal, this.#killTimeoutMs);
      } catch (error) {
        this.#emit(events.killed(`the task could not be killed: ${(error as Error).message}`));
        if (attempt === killAttemptsMax) return;
      }
      await delay(timers, waitMs, this.#leave.signal);
      waitMs = Math.min(waitMs * 2, killDelayMaxMs);
    }
  }

  /** Applies the restart policy. `false` when the task is dead. */
  #decide(cause: RestartCause): boolean {
    const { random, clock } = this.#context.world;
    const task = this.#context.task();
    const decision = decideRestart({
      policy: task.RestartPolicy,
      tracker: this.#tracker ?? { count: 0, windowStartMs: clock.nowMs() },
      cause,
      restartsOnSuccess: restartsOnSuccess(this.#context.job(), task),
      nowMs: clock.nowMs(),
      jitter: random.fraction(),
    });
    if (decision.kind !== 'restart') {
      const failed = decision.kind === 'fail';
      this.#die(failed, failed ? events.notRestarting(decision.reason) : undefined);
      return false;
    }
    this.#tracker = decision.tracker;
    this.#restartAtMs = clock.nowMs() + decision.delayMs;
    this.#phase = 'waiting';
    this.#emit(events.restarting(decision.reason, decision.delayMs * nanosecondsPerMillisecond));
    this.#change({ State: 'pending', ...this.#restartCounted() });
    return true;
  }

  #restartCounted(): Pick<TaskState, 'Restarts' | 'LastRestart'> {
    return { Restarts: this.#state.Restarts + 1, LastRestart: this.#now() };
  }

  async #waitForRestart(): Promise<void> {
    const { clock, timers } = this.#context.world;
    const signal = AbortSignal.any([this.#kill.signal, this.#leave.signal]);
    await delay(timers, Math.max(0, this.#restartAtMs - clock.nowMs()), signal);
  }

  #die(failed: boolean, event?: events.EventAt): void {
    this.#phase = 'dead';
    if (event !== undefined) this.#emit(event);
    void this.#hooks.close({ isDead: true });
    this.#change({ State: 'dead', Failed: failed, FinishedAt: this.#now() });
    void this.#acknowledge();
    this.#dead.resolve();
  }

  /** T3: first to disk, then to the driver. */
  async #acknowledge(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await this.#context.save();
    await handle?.forget().catch(() => {});
  }

  #emit(event: events.EventAt): void {
    const time = instantFromMs(this.#context.world.clock.nowMs());
    this.#state = withTaskEvent(this.#state, event(time));
    this.#context.changed();
  }

  #change(fields: Partial<TaskState>): void {
    this.#state = { ...this.#state, ...fields };
    this.#context.changed();
  }

  #now(): string {
    return formatInstant(this.#context.world.clock.nowMs());
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
